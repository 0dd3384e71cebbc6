/** What the command line ends with. Part of the contract: scripts rely on it. */
export const exitCodes = {
  done: 0,
  failed: 1,
  input: 2,
  environment: 3,
  paused: 75,
  interrupted: 130,
} as const;

/** One thing that `swarm doctor` has found. */
export interface Finding {
  readonly topic: 'git' | 'agent' | 'state' | 'worktree' | 'process' | 'disk';
  readonly level: 'good' | 'note' | 'bad';
  readonly text: string;
  /** What to do; empty where nothing is. */
  readonly fix: string;
  /** Mends it and says what was done; absent where only a person can. Losing nothing is what makes it safe. */
  readonly mend?: () => Promise<readonly string[]>;
}

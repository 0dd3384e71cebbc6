/** The real agents' programs as absolute commands: program first, leading arguments after it. */
export interface AgentPrograms {
  readonly folder: string;
  readonly node: string;
  readonly claude: string[];
  readonly codex: string[];
  readonly kimi: string[];
}

/** Installs the agents where the cache does not hold them yet, and tells where they are. */
export function agentPrograms(): Promise<AgentPrograms>;

export interface ServerPrograms {
  readonly folder: string;
  readonly node: string;
  readonly entry: string;
}

export interface ServerOptions {
  readonly profile: string;
  readonly password?: string | null;
  readonly privateHome?: boolean;
  readonly settings?: Readonly<Record<string, unknown>>;
  readonly trust?: boolean;
  readonly smokeTest?: boolean;
  readonly env?: Readonly<Record<string, string | undefined>>;
}

export interface Server {
  readonly origin: string;
  readonly port: number;
  readonly logFile: string;
  stop(): Promise<void>;
  windowAddress(folder: string, payload?: readonly (readonly [string, string])[]): string;
  installExtension(vsix: string): Promise<void>;
}

export function installServer(): Promise<ServerPrograms>;
export function chromium(): Promise<string>;
export function startServer(options: ServerOptions): Promise<Server>;
export const plainSettings: Readonly<Record<string, unknown>>;

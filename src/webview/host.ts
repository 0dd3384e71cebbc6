import type { FromPanel } from '../protocol/messages.js';

/** The webview's side of the line to the host. */
export interface HostLine {
  post(message: FromPanel): void;
  keep(state: unknown): void;
  kept(): unknown;
}

interface VsCodeApi {
  postMessage(message: unknown): void;
  setState(state: unknown): void;
  getState(): unknown;
}

declare function acquireVsCodeApi(): VsCodeApi;

export function connectHost(): HostLine {
  const api = acquireVsCodeApi();
  return {
    post: (message) => api.postMessage(message),
    keep: (state) => api.setState(state),
    kept: () => api.getState(),
  };
}

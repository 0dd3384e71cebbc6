import type { HostState, ToPanel } from '../../protocol/messages.js';
import type { View } from '../../protocol/view.js';

export interface PusherOptions {
  /** What stands now. */
  readonly read: () => { readonly view: View; readonly host: HostState };
  readonly post: (message: ToPanel) => void;
  /** Milliseconds that never go back. */
  readonly now: () => number;
  /** Calls back once after so many milliseconds. */
  readonly after: (milliseconds: number, then: () => void) => { dispose(): void };
}

/** At most ten pushes a second. */
const apart = 100;

/**
 * Sends the view to the panel: at once when the last push is long enough ago, else when it is; only if something
 * differs from what was sent. Each push has a greater serial than the one before.
 */
export function createPusher(options: PusherOptions): {
  /** Something may have changed. */
  changed(): void;
  /** The panel has (re)loaded: it gets everything, at once. */
  ready(): void;
  dispose(): void;
} {
  let serial = 0;
  let last = Number.NEGATIVE_INFINITY;
  let sent: { readonly view: View; readonly host: string } | null = null;
  let waiting: { dispose(): void } | null = null;

  function push(): void {
    waiting?.dispose();
    waiting = null;
    const { view, host } = options.read();
    const hostText = JSON.stringify(host);
    if (sent !== null && sent.view === view && sent.host === hostText) return;
    sent = { view, host: hostText };
    last = options.now();
    serial += 1;
    options.post({ type: 'view', serial, view, host });
  }

  return {
    changed() {
      if (waiting !== null) return;
      const left = last + apart - options.now();
      if (left <= 0) push();
      else waiting = options.after(left, push);
    },
    ready() {
      sent = null;
      push();
    },
    dispose() {
      waiting?.dispose();
      waiting = null;
    },
  };
}

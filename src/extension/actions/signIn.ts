import type { Engine } from '../engine.js';
import type { Vscode } from '../vscodeTypes.js';

/** Opens the agent's own sign-in in a terminal: its program, started directly. Swarm never sees what is typed. */
export async function signIn(
  vscode: Vscode,
  engine: Engine,
  executor: string,
  topLevel: string,
): Promise<void> {
  const { l10n, window } = vscode;
  const found = await engine.signIn(executor, topLevel);
  if (!found.ok) {
    void window.showErrorMessage(
      found.reason === 'noSignIn'
        ? l10n.t(
            '{0} has no sign-in of its own that Swarm knows. Sign in as its documentation says, then resume.',
            executor,
          )
        : `${found.message} ${found.fix}`,
    );
    return;
  }
  const terminal = window.createTerminal({
    name: l10n.t('Sign in: {0}', executor),
    shellPath: found.file,
    shellArgs: [...found.args],
    cwd: topLevel,
  });
  terminal.show();
}

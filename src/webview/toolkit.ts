import {
  provideVSCodeDesignSystem,
  vsCodeButton,
  vsCodeTextArea,
  vsCodeTextField,
} from '@vscode/webview-ui-toolkit';

/**
 * The only door to the component library: `vscode-button`, `vscode-text-field` and `vscode-text-area`.
 * Its badge and tag are left out, since they write inline styles that a strict policy refuses.
 */
export function defineToolkit(): void {
  provideVSCodeDesignSystem().register(vsCodeButton(), vsCodeTextArea(), vsCodeTextField());
}

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

/** Focuses a text field or area with the caret at its end. */
export function focusField(field: Element | null): void {
  if (!(field instanceof HTMLElement)) return;
  field.focus();
  const control = field.shadowRoot?.querySelector<HTMLInputElement | HTMLTextAreaElement>('.control');
  if (!control) return;
  // The library writes the value into its control a moment later; the caret needs it now.
  const { value } = field as Partial<HTMLInputElement>;
  if (value !== undefined && control.value !== value) control.value = value;
  control.setSelectionRange(control.value.length, control.value.length);
}

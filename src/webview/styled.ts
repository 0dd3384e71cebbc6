import { noChange } from 'lit';
import { Directive, directive, PartType, type AttributePart, type PartInfo } from 'lit/directive.js';

/**
 * Sets styles through the object model only. Lit's own `styleMap` writes the attribute once, which a policy
 * without inline styles refuses.
 */
class Styled extends Directive {
  constructor(part: PartInfo) {
    super(part);
    if (part.type !== PartType.ATTRIBUTE || part.name !== 'style') throw new Error('styled() is for style=');
  }

  override render(_styles: Readonly<Record<string, string>>): typeof noChange {
    return noChange;
  }

  override update(part: AttributePart, [styles]: [Readonly<Record<string, string>>]): typeof noChange {
    const { style } = part.element;
    for (const [name, value] of Object.entries(styles))
      if (style.getPropertyValue(name) !== value) style.setProperty(name, value);
    return noChange;
  }
}

export const styled = directive(Styled);

import { shortenPath } from './paths.js';

const drawn = new WeakMap<Element, string>();
let canvas: CanvasRenderingContext2D | null = null;

/**
 * Writes each path as long as its place is wide. `generation` changes with the width of the panel: what was drawn
 * for it is left alone, and not even measured again.
 */
export function fitPaths(root: ParentNode, generation: number): void {
  const places = [...root.querySelectorAll<HTMLElement>('.mid')];
  // Read all, then write all: one layout instead of one per path.
  const todo = places.flatMap((place) => {
    const path = place.dataset['path'] ?? '';
    const state = `${generation} ${path}`;
    const text = place.firstElementChild;
    if (!text || drawn.get(place) === state) return [];
    const width = place.clientWidth;
    return width === 0 ? [] : [{ place, text, width, path, state, font: getComputedStyle(place).font }];
  });
  if (todo.length === 0) return;
  canvas ??= document.createElement('canvas').getContext('2d');
  for (const { place, text, width, path, state, font } of todo) {
    const measure = canvas;
    if (measure) measure.font = font;
    text.textContent = measure ? shortenPath(path, (part) => measure.measureText(part).width <= width) : path;
    drawn.set(place, state);
  }
}

// Makes pictures of pages, and describes them by few numbers, so that pictures of different machines can be compared.
import type { Page } from "playwright-core";
import { expect } from "vitest";

/** Pixels of the side of a square of which only the mean brightness counts. */
export const BLOCK = 16;

/** Left, top, width and height in pixels. */
export type Box = readonly [x: number, y: number, width: number, height: number];

export interface View {
  readonly boxes: Readonly<Record<string, Box>>;
  readonly columns: number;
  /** The mean brightness of each block, row by row, from 0 to 255. */
  readonly blocks: Uint8Array;
}

/** What the places of which are compared: the parts of the frame, and the first of those on the page. */
const landmarks = {
  banner: ".banner",
  navigation: "nav[aria-label=Main]",
  sections: "nav[aria-label=Sections]",
  main: "main",
  heading: "main h1",
  tabs: "main [role=tablist]",
  toolbar: "main search",
  table: "main table",
} as const;

/** What differs from run to run: addresses with ports, secrets, and the like. */
const masked = ["code", "pre", ".cm-editor", "[data-moving]"].join(", ");

/** Waits until the page has read everything and no longer moves. */
export async function settle(page: Page): Promise<void> {
  await page.getByRole("heading", { level: 1 }).first().waitFor();
  await expect
    .poll(
      () =>
        page
          .locator(".loading, .skeleton")
          .or(page.getByText(/^Loading/))
          .count(),
      { timeout: 30_000 },
    )
    .toBe(0);
  await page.evaluate(async () => {
    const { document, requestAnimationFrame } = globalThis as unknown as BrowserGlobals;
    await document.fonts.ready;
    await new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)));
  });
}

interface BrowserGlobals {
  readonly document: { readonly fonts: { readonly ready: Promise<unknown> } };
  readonly requestAnimationFrame: (run: (time: unknown) => void) => void;
}

/** A picture without what differs from run to run; `plain`: with it. */
export const picture = (page: Page, { plain = false } = {}): Promise<Buffer> =>
  page.screenshot({
    animations: "disabled",
    caret: "hide",
    ...(plain ? {} : { mask: [page.locator(masked)], maskColor: "#808080" }),
  });

export async function boxesOf(page: Page): Promise<Record<string, Box>> {
  const entries = await Promise.all(
    Object.entries(landmarks).map(async ([name, selector]) => {
      const place = page.locator(selector).first();
      const box = (await place.count()) === 0 ? null : await place.boundingBox();
      return box === null
        ? []
        : [[name, [box.x, box.y, box.width, box.height].map((value) => Math.round(value)) as unknown as Box] as const];
    }),
  );
  return Object.fromEntries(entries.flat());
}

/** A page of a browser that measures pictures: it decodes PNG, as browsers can. */
export class Darkroom {
  readonly #page: Page;

  constructor(page: Page) {
    this.#page = page;
  }

  async blocksOf(png: Buffer): Promise<Pick<View, "blocks" | "columns">> {
    const { columns, base64 } = await this.#page.evaluate(measure, { base64: png.toString("base64"), size: BLOCK });
    return { columns, blocks: Buffer.from(base64, "base64") };
  }

  /** The picture as WebP, of which it says how many pixels wide. */
  async compressed(png: Buffer): Promise<Buffer> {
    return Buffer.from(await this.#page.evaluate(toWebp, png.toString("base64")), "base64");
  }

  /** What text is as wide as here: machines with other fonts break lines elsewhere. */
  fonts(): Promise<string> {
    return this.#page.evaluate(measureFonts);
  }
}

// The functions below run in the browser.

interface Canvas {
  getContext(kind: "2d"): {
    font: string;
    drawImage(image: unknown, x: number, y: number): void;
    getImageData(x: number, y: number, width: number, height: number): { readonly data: Uint8ClampedArray };
    measureText(text: string): { readonly width: number };
  };
  convertToBlob(options: { readonly type: string; readonly quality: number }): Promise<Blob>;
}

interface CanvasGlobals {
  readonly OffscreenCanvas: new (width: number, height: number) => Canvas;
  createImageBitmap(blob: Blob): Promise<{ readonly width: number; readonly height: number }>;
}

async function measure({ base64, size }: { base64: string; size: number }) {
  const { OffscreenCanvas, createImageBitmap } = globalThis as unknown as CanvasGlobals;
  const bytes = Uint8Array.from(atob(base64), (letter) => letter.charCodeAt(0));
  const bitmap = await createImageBitmap(new Blob([bytes], { type: "image/png" }));
  const { width, height } = bitmap;
  const context = new OffscreenCanvas(width, height).getContext("2d");
  context.drawImage(bitmap, 0, 0);
  const { data } = context.getImageData(0, 0, width, height);
  const columns = Math.floor(width / size);
  const rows = Math.floor(height / size);
  let text = "";
  for (let row = 0; row < rows; row++)
    for (let column = 0; column < columns; column++) {
      let sum = 0;
      for (let y = row * size; y < (row + 1) * size; y++)
        for (let x = column * size; x < (column + 1) * size; x++) {
          const at = (y * width + x) * 4;
          sum += 0.299 * data[at]! + 0.587 * data[at + 1]! + 0.114 * data[at + 2]!;
        }
      text += String.fromCharCode(Math.round(sum / (size * size)));
    }
  return { columns, base64: btoa(text) };
}

async function toWebp(base64: string): Promise<string> {
  const { OffscreenCanvas, createImageBitmap } = globalThis as unknown as CanvasGlobals;
  const bytes = Uint8Array.from(atob(base64), (letter) => letter.charCodeAt(0));
  const bitmap = await createImageBitmap(new Blob([bytes], { type: "image/png" }));
  const canvas = new OffscreenCanvas(bitmap.width, bitmap.height);
  canvas.getContext("2d").drawImage(bitmap, 0, 0);
  const blob = await canvas.convertToBlob({ type: "image/webp", quality: 0.82 });
  let text = "";
  for (const byte of new Uint8Array(await blob.arrayBuffer())) text += String.fromCharCode(byte);
  return btoa(text);
}

function measureFonts(): string {
  const { OffscreenCanvas } = globalThis as unknown as CanvasGlobals;
  const context = new OffscreenCanvas(1, 1).getContext("2d");
  return ["14px system-ui", "600 14px system-ui", "14px monospace"]
    .map((font) => {
      context.font = font;
      return Math.round(context.measureText("Hosts that are online, 0123456789 of MWmwil").width);
    })
    .join(" ");
}

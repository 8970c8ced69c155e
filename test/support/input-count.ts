// Counts what somebody does in a page, as the browser reports it: clicks, keys, and words that are typed.
import type { Page } from "playwright-core";

/** Runs in the page. */
const LISTENERS = `
  addEventListener("pointerdown", () => reportInput("click", "", false), { capture: true });
  addEventListener("keydown", ({ key, target, ctrlKey, metaKey, altKey }) => {
    const isField = target.isContentEditable || ["INPUT", "TEXTAREA", "SELECT"].includes(target.tagName);
    const isText = isField && key.length === 1 && !["checkbox", "radio"].includes(target.type);
    reportInput("key", key, isText && !ctrlKey && !metaKey && !altKey);
  }, { capture: true });
`;

const MODIFIERS: ReadonlySet<string> = new Set(["Control", "Shift", "Alt", "Meta"]);

/** Words of a text that is typed into a field count once each; a key that is pressed with Ctrl or Shift counts once. */
export class InputCount {
  readonly #page: Page;
  clicks = 0;
  keys = 0;
  words = 0;
  #isInWord = false;

  private constructor(page: Page) {
    this.#page = page;
  }

  /** Counts from now on. */
  static async of(page: Page): Promise<InputCount> {
    const count = new InputCount(page);
    await page.exposeFunction("reportInput", (kind: "click" | "key", key: string, isText: boolean) =>
      count.#add(kind, key, isText),
    );
    await page.addInitScript(LISTENERS);
    await page.evaluate(LISTENERS);
    return count;
  }

  get total(): number {
    return this.clicks + this.keys + this.words;
  }

  /** Waits for what the page has reported so far. */
  async read(): Promise<this> {
    await this.#page.evaluate("0");
    return this;
  }

  #add(kind: "click" | "key", key: string, isText: boolean): void {
    if (kind === "click") this.clicks++;
    else if (MODIFIERS.has(key)) return;
    else if (!isText) this.keys++;
    else if (key !== " " && !this.#isInWord) this.words++;
    this.#isInWord = kind === "key" && isText && key !== " ";
  }
}

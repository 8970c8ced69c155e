// All output to a terminal goes through this module. Agents and other users choose names and values, which must not
// contain working escape sequences. So output to a terminal is escaped, except for the styles made by `style`. Files
// and pipes get every byte unchanged.
import { randomInt } from "node:crypto";
import { TextDecoder } from "node:util";
import { controlsInLines, printableLines } from "../../text/printable.ts";
import { usage } from "../errors.ts";
import type { Asker, Io } from "../io.ts";

// Text from outside cannot contain a valid style, because styles include random numbers. Libraries
// that measure text treat them like any other style.
const part = () => randomInt(1000, 10_000);
let drawn: string | undefined;
/** Drawn at first use, because most output has no styles, and cryptography takes long to load. */
const key = (): string => {
  drawn ??= [part(), part(), part()].join(";");
  return drawn;
};
const ownStyle = (): RegExp => new RegExp(`\\u001b\\[${key()};([0-9;]*)m`, "g");
// biome-ignore lint/suspicious/noControlCharactersInRegex: it is what is looked for
const anyStyle = /\u001b\[([0-9;]*)m/g;

/** The text in a terminal style (an SGR code: 1 is bold, 31 red). */
export const style = (code: number, text: string): string => `\u001b[${key()};${code}m${text}\u001b[${key()};0m`;

/** Converts the styles of a library to our own. Only for text that contains nothing from outside. */
export const adoptStyles = (text: string): string => text.replace(anyStyle, `\u001b[${key()};$1m`);

/** Escapes control characters for a terminal, except line breaks and tabs. */
export function forTerminal(text: string): string {
  if (text.search(controlsInLines) === -1) return text;
  const pieces = text.replaceAll("\r\n", "\n").split(ownStyle());
  // The odd pieces are the codes of our styles.
  return pieces.map((piece, at) => (at % 2 === 1 ? `\u001b[${piece}m` : printableLines(piece))).join("");
}

const strictDecoder = () => new TextDecoder("utf-8", { fatal: true });

/** The text of a file, or with `decoder` of its next part. Throws CliError for binary content. */
export function fileText(bytes: Uint8Array, decoder?: TextDecoder): string {
  try {
    // Archives of text files are valid UTF-8, but contain NUL.
    if (!bytes.includes(0)) return (decoder ?? strictDecoder()).decode(bytes, { stream: decoder !== undefined });
  } catch {
    // Not UTF-8.
  }
  throw usage("this is binary, which a terminal cannot show", "Redirect it to a file: > FILE");
}

const ERASE_LINE = "\r\u001b[K";

/** The output of commands. Whatever goes to a terminal is escaped. */
export class Terminal implements Io {
  readonly ask: Asker;
  readonly now: Io["now"];
  readonly send?: NonNullable<Io["send"]>;
  readonly browse?: NonNullable<Io["browse"]>;
  readonly keyring?: NonNullable<Io["keyring"]>;
  readonly #io: Io;
  readonly #decoder = new TextDecoder();
  readonly #fileDecoder = strictDecoder();
  /** The status line is only shown at the start of a line, and is erased before any other output. */
  #isStartOfLine = true;
  #status: string | null = null;
  #unfinished = "";
  #hasOwnScreen = false;

  constructor(io: Io) {
    this.#io = io;
    this.now = io.now;
    this.ask = safeAsker(io.ask, () => {
      this.#eraseStatus();
      this.#status = null;
      this.#isStartOfLine = true;
    });
    if (io.send !== undefined) this.send = io.send;
    if (io.browse !== undefined) this.browse = io.browse;
    if (io.keyring !== undefined) this.keyring = io.keyring;
  }

  get env(): Io["env"] {
    return this.#io.env;
  }

  get tty(): Io["tty"] {
    return this.#io.tty;
  }

  get columns(): number {
    return this.#io.columns;
  }

  get lines(): number {
    return this.#io.lines;
  }

  readStdin(): Promise<string> {
    return this.#io.readStdin();
  }

  inBytes(): AsyncIterable<Uint8Array> {
    return this.#io.inBytes?.() ?? textBytes(this.#io);
  }

  sleep(ms: number, signal?: AbortSignal): Promise<void> {
    return this.#io.sleep(ms, signal);
  }

  out(text: string): void {
    if (!this.#io.tty.stdout) {
      this.#io.out(text);
      return;
    }
    const safe = this.#prepareOutput(text);
    this.#io.out(safe);
    this.#noteWritten(safe);
  }

  async outText(text: string): Promise<void> {
    if (!this.#io.tty.stdout) return this.#writeText(text);
    const safe = this.#prepareOutput(text);
    await this.#writeText(safe);
    this.#noteWritten(safe);
  }

  /** For parts of files of any kind: refuses binary content on a terminal. */
  async outBytes(bytes: Uint8Array): Promise<void> {
    return this.#writeBytes(bytes, () => fileText(bytes, this.#fileDecoder));
  }

  /** For parts of text in UTF-8, which may contain any characters of hosts. */
  async outTextBytes(bytes: Uint8Array): Promise<void> {
    return this.#writeBytes(bytes, () => this.#decoder.decode(bytes, { stream: true }));
  }

  err(text: string): void {
    if (!this.#io.tty.stderr) {
      this.#io.err(text);
      return;
    }
    this.#eraseStatus();
    const safe = forTerminal(text);
    this.#io.err(safe);
    this.#noteWritten(safe);
  }

  /** Shows a status on the last line of the terminal until other output is written or `null` removes it. */
  status(text: string | null): void {
    if (!this.#io.tty.stderr || this.#hasOwnScreen) return;
    if (text === null) {
      this.#eraseStatus();
      this.#status = null;
      return;
    }
    this.#status = forTerminal(text.replaceAll("\n", " ")).slice(0, Math.max(20, this.#io.columns - 1));
    this.#paintStatus();
  }

  /** Paints lines in place on the alternate screen; null leaves that screen. */
  picture(lines: readonly string[] | null): void {
    if (!this.#io.tty.stdout || lines === null) {
      if (this.#hasOwnScreen) this.#io.out("\u001b[?25h\u001b[?1049l");
      this.#hasOwnScreen = false;
      return;
    }
    this.#eraseStatus();
    this.#status = null;
    if (!this.#hasOwnScreen) this.#io.out("\u001b[?1049h\u001b[?25l");
    this.#hasOwnScreen = true;
    // Each line erases its remainder instead of clearing the screen first, which avoids flicker.
    const whole = lines.map((line) => `${forTerminal(line).replaceAll("\n", " ")}\u001b[K`).join("\r\n");
    this.#io.out(`\u001b[H${whole}\u001b[J`);
  }

  #eraseStatus(): void {
    if (this.#status !== null) this.#io.err(ERASE_LINE);
  }

  #paintStatus(): void {
    if (this.#status !== null && this.#isStartOfLine) this.#io.err(`${ERASE_LINE}${this.#status}`);
    else this.#status = null;
  }

  #noteWritten(text: string): void {
    if (text !== "") this.#isStartOfLine = text.endsWith("\n");
    this.#paintStatus();
  }

  /** The text as a terminal may get it. */
  #prepareOutput(text: string): string {
    this.#eraseStatus();
    // A trailing CR may be half of a CRLF: keep it until the next write.
    const whole = this.#unfinished + text;
    this.#unfinished = whole.endsWith("\r") ? "\r" : "";
    return forTerminal(whole.slice(0, whole.length - this.#unfinished.length));
  }

  async #writeText(text: string): Promise<void> {
    if (this.#io.outText) await this.#io.outText(text);
    else this.#io.out(text);
  }

  async #writeBytes(bytes: Uint8Array, toText: () => string): Promise<void> {
    if (this.#io.tty.stdout || !this.#io.outBytes) return this.outText(toText());
    return this.#io.outBytes(bytes);
  }
}

/** Questions may contain names of hosts, so they are escaped too. */
function safeAsker(ask: Asker, before: () => void): Asker {
  const question = (text: string) => {
    before();
    return forTerminal(text.replaceAll("\n", " "));
  };
  return {
    text: (text, preset) => ask.text(question(text), preset),
    secret: (text) => ask.secret(question(text)),
    yes: (text) => ask.yes(question(text)),
  };
}

async function* textBytes(io: Io): AsyncGenerator<Uint8Array> {
  yield new TextEncoder().encode(await io.readStdin());
}

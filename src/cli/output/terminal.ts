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
export interface Terminal extends Io {
  outText(text: string): Promise<void>;
  /** For parts of files of any kind: refuses binary content on a terminal. */
  outBytes(bytes: Uint8Array): Promise<void>;
  /** For parts of text in UTF-8, which may contain any characters of hosts. */
  outTextBytes(bytes: Uint8Array): Promise<void>;
  inBytes(): AsyncIterable<Uint8Array>;
  /** Shows a status on the last line of the terminal until other output is written or `null` removes it. */
  status(text: string | null): void;
  /** Paints lines in place on the alternate screen; null leaves that screen. */
  picture(lines: readonly string[] | null): void;
}

export function terminalOf(io: Io): Terminal {
  // The status line is only shown at the start of a line, and is erased before any other output.
  let startOfLine = true;
  let status: string | null = null;
  let unfinished = "";
  let ownScreen = false;
  const erase = () => {
    if (status !== null) io.err(ERASE_LINE);
  };
  const paintStatus = () => {
    if (status !== null && startOfLine) io.err(`${ERASE_LINE}${status}`);
    else status = null;
  };
  const wrote = (text: string) => {
    if (text !== "") startOfLine = text.endsWith("\n");
    paintStatus();
  };
  const prepared = (text: string): string => {
    erase();
    // A trailing CR may be half of a CRLF: keep it until the next write.
    const whole = unfinished + text;
    unfinished = whole.endsWith("\r") ? "\r" : "";
    return forTerminal(whole.slice(0, whole.length - unfinished.length));
  };
  const outText = async (text: string) => {
    if (!io.tty.stdout) return io.outText ? io.outText(text) : io.out(text);
    const safe = prepared(text);
    if (io.outText) await io.outText(safe);
    else io.out(safe);
    wrote(safe);
  };
  const decoder = new TextDecoder();
  const fileDecoder = strictDecoder();
  const { outBytes } = io;
  const write = (bytes: Uint8Array, toText: () => string) =>
    io.tty.stdout || !outBytes ? outText(toText()) : outBytes(bytes);
  return {
    env: io.env,
    tty: io.tty,
    get columns() {
      return io.columns;
    },
    get lines() {
      return io.lines;
    },
    now: io.now,
    readStdin: () => io.readStdin(),
    inBytes: () => io.inBytes?.() ?? textBytes(io),
    sleep: (ms, signal) => io.sleep(ms, signal),
    ask: safeAsker(io.ask, () => {
      erase();
      status = null;
      startOfLine = true;
    }),
    ...(io.send === undefined ? {} : { send: io.send }),
    ...(io.browse === undefined ? {} : { browse: io.browse }),
    ...(io.keyring === undefined ? {} : { keyring: io.keyring }),
    outText,
    out(text) {
      if (!io.tty.stdout) return io.out(text);
      const safe = prepared(text);
      io.out(safe);
      wrote(safe);
    },
    outBytes: async (bytes) => write(bytes, () => fileText(bytes, fileDecoder)),
    outTextBytes: async (bytes) => write(bytes, () => decoder.decode(bytes, { stream: true })),
    err(text) {
      if (!io.tty.stderr) return io.err(text);
      erase();
      const safe = forTerminal(text);
      io.err(safe);
      wrote(safe);
    },
    status(text) {
      if (!io.tty.stderr || ownScreen) return;
      if (text === null) {
        erase();
        status = null;
        return;
      }
      status = forTerminal(text.replaceAll("\n", " ")).slice(0, Math.max(20, io.columns - 1));
      paintStatus();
    },
    picture(lines) {
      if (!io.tty.stdout || lines === null) {
        if (ownScreen) io.out("\u001b[?25h\u001b[?1049l");
        ownScreen = false;
        return;
      }
      erase();
      status = null;
      if (!ownScreen) io.out("\u001b[?1049h\u001b[?25l");
      ownScreen = true;
      // Each line erases its remainder instead of clearing the screen first, which avoids flicker.
      const whole = lines.map((line) => `${forTerminal(line).replaceAll("\n", " ")}\u001b[K`).join("\r\n");
      io.out(`\u001b[H${whole}\u001b[J`);
    },
  };
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

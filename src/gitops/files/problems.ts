// Problems in files and their places. Reading continues after a problem, so that all problems are reported together.

/** A place in a file: line and column, both counted from 1. */
export interface Place {
  readonly file: string;
  readonly line: number;
  readonly column: number;
}

export interface Problem extends Place {
  readonly severity: "error" | "warning";
  readonly message: string;
}

const NOT_QUOTED =
  "something is wrong here. The file is reached through a link, so nothing of it is quoted: replace the link by the file";

/** The items of a kind in the files of an owner, for `Problems.isIncomplete`. */
export const listKey = (kind: string, owner: string | null): string => JSON.stringify([kind, owner]);
export const listsOf = (owner: string | null): string => JSON.stringify([owner]);

/** Something that files name but do not contain. The server may have it and keep it. */
export interface UnlistedObject {
  readonly kind: string;
  readonly owner: string | null;
  /** The name, or the digest of the file. */
  readonly called: string;
}

export class Problems {
  readonly all: Problem[] = [];
  readonly #unlisted = new Map<Problem, UnlistedObject>();
  readonly #reported = new Set<string>();
  readonly #unquoted = new Set<string>();
  readonly #incomplete = new Set<string>();
  #errors = 0;

  /** Problems in this file quote nothing of it: a link leads to it, and it may be another file than readers expect. */
  doNotQuote(file: string): void {
    this.#unquoted.add(file);
  }
  /** The message, unless it may quote a file that must not be quoted. */
  about(file: string, message: string): string {
    return this.#unquoted.has(file) ? NOT_QUOTED : message;
  }

  /** The list could not be read whole, so that nothing which seems to be missing in it is a mistake of its own. */
  markIncomplete(list: string): void {
    this.#incomplete.add(list);
  }
  isIncomplete(list: string): boolean {
    return this.#incomplete.has(list);
  }
  /** Marks the list if reading it finds an error. */
  async reading<T>(list: string, read: () => Promise<T>): Promise<T> {
    const before = this.#errors;
    const content = await read();
    if (this.#errors > before) this.markIncomplete(list);
    return content;
  }
  checking<T>(list: string, check: () => T): T {
    const before = this.#errors;
    const checked = check();
    if (this.#errors > before) this.markIncomplete(list);
    return checked;
  }

  error(at: Place, message: string): void {
    this.#errors++;
    this.#add("error", at, message);
  }
  /** An error, unless the server keeps what is not in the files. */
  missing(at: Place, message: string, unlisted: UnlistedObject): void {
    this.#errors++;
    const problem = this.#add("error", at, message);
    if (problem) this.#unlisted.set(problem, unlisted);
  }
  /** Removes the errors about what the server keeps. */
  settle(isKept: (unlisted: UnlistedObject) => boolean): void {
    for (const [problem, unlisted] of this.#unlisted)
      if (isKept(unlisted)) this.all.splice(this.all.indexOf(problem), 1);
    this.#unlisted.clear();
  }
  warn(at: Place, message: string): void {
    this.#add("warning", at, message);
  }
  get failed(): boolean {
    return this.all.some(({ severity }) => severity === "error");
  }
  /** Whether there are errors whatever the server has. */
  get failedForSure(): boolean {
    return this.all.some((problem) => problem.severity === "error" && !this.#unlisted.has(problem));
  }

  // A fragment that several files include is read for each of them, but its problems are reported once.
  #add(severity: Problem["severity"], { file, line, column }: Place, text: string): Problem | null {
    const message = this.about(file, text);
    const key = JSON.stringify([file, line, column, message]);
    if (this.#reported.has(key)) return null;
    this.#reported.add(key);
    const problem: Problem = { severity, file, line, column, message };
    this.all.push(problem);
    return problem;
  }
}

/** `default.yml:3:5: unknown key ...`, the form that editors and CI systems recognize. */
export const renderProblem = ({ file, line, column, message }: Problem): string =>
  `${file}:${line}:${column}: ${message}`;

export const startOf = (file: string): Place => ({ file, line: 1, column: 1 });

// What is wrong in the files, and where. Reading goes on after a problem: all of all files are told together.

/** A place in a file as people count: line and column from 1. */
export interface Place {
  readonly file: string;
  readonly line: number;
  readonly column: number;
}

export interface Problem extends Place {
  readonly severity: "error" | "warning";
  readonly message: string;
}

export class Problems {
  readonly all: Problem[] = [];
  readonly #told = new Set<string>();

  error(at: Place, message: string): void {
    this.add("error", at, message);
  }
  warn(at: Place, message: string): void {
    this.add("warning", at, message);
  }
  get failed(): boolean {
    return this.all.some(({ severity }) => severity === "error");
  }

  // A fragment that several files use is read for each of them: its problems are told once.
  private add(severity: Problem["severity"], { file, line, column }: Place, message: string): void {
    const key = JSON.stringify([file, line, column, message]);
    if (this.#told.has(key)) return;
    this.#told.add(key);
    this.all.push({ severity, file, line, column, message });
  }
}

/** `default.yml:3:5: unknown key ...`, as editors and CI systems find it. */
export const renderProblem = ({ file, line, column, message }: Problem): string =>
  `${file}:${line}:${column}: ${message}`;

export const startOf = (file: string): Place => ({ file, line: 1, column: 1 });

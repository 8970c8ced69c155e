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

export class Problems {
  readonly all: Problem[] = [];
  readonly #reported = new Set<string>();

  error(at: Place, message: string): void {
    this.add("error", at, message);
  }
  warn(at: Place, message: string): void {
    this.add("warning", at, message);
  }
  get failed(): boolean {
    return this.all.some(({ severity }) => severity === "error");
  }

  // A fragment that several files include is read for each of them, but its problems are reported once.
  private add(severity: Problem["severity"], { file, line, column }: Place, message: string): void {
    const key = JSON.stringify([file, line, column, message]);
    if (this.#reported.has(key)) return;
    this.#reported.add(key);
    this.all.push({ severity, file, line, column, message });
  }
}

/** `default.yml:3:5: unknown key ...`, the form that editors and CI systems recognize. */
export const renderProblem = ({ file, line, column, message }: Problem): string =>
  `${file}:${line}:${column}: ${message}`;

export const startOf = (file: string): Place => ({ file, line: 1, column: 1 });

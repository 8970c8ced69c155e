// How a service is installed: files, and commands that start it.

export interface ServicePlan {
  /** A folder, and the commands that close it to others: before a file is written to it. */
  readonly closed?: { readonly folder: string; readonly commands: readonly (readonly string[])[] };
  readonly files: readonly ServiceFile[];
  /** Run after the files were written, if one has changed or the service does not run. */
  readonly start: readonly (readonly string[])[];
}

export interface ServiceFile {
  readonly path: string;
  readonly content: string;
  readonly mode: number;
}

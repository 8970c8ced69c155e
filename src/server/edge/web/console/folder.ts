// Where the built console is. This module finds it by its own place, so it imports nothing of the project.
import { readFile, stat } from "node:fs/promises";

const folder = new URL("../../../../../dist/browser/", import.meta.url);

/** Null: there is no such file, as in a checkout that is not built. */
export const readConsoleFile = (name: string): Promise<Buffer<ArrayBuffer> | null> =>
  readFile(new URL(name, folder)).then(
    (bytes) => bytes as Buffer<ArrayBuffer>,
    () => null,
  );

/** Changes with each build. Null: there is none. */
export const consoleVersion = (): Promise<string | null> =>
  stat(new URL("manifest.json", folder)).then(
    ({ mtimeMs, size }) => `${mtimeMs} ${size}`,
    () => null,
  );

// Encrypts every secret in a directory with a new key. All data is rewritten, and the change takes effect when the
// new snapshot is renamed to its final name.
import { changingCipher } from "../cipher.ts";
import { type Rotation, type RotationResult, secretColumns } from "../key-rotation.ts";
import type { Tables } from "../store.ts";
import type { StoreFiles } from "./files.ts";
import { openLowdb } from "./open.ts";

interface RotateOptions extends Rotation {
  readonly dir: string;
  readonly tables: Tables;
  readonly files?: StoreFiles;
}

/** The directory must be readable with the key `from`. */
export async function rotateLowdb({
  dir,
  tables,
  from,
  to,
  files,
  onProgress,
}: RotateOptions): Promise<RotationResult> {
  const cipher = changingCipher(from, to);
  const store = await openLowdb({ tables, dir, cipher, ...(files ? { files } : {}) });
  try {
    let sealed = 0;
    for (const [key, table] of Object.entries(tables)) {
      const columns = secretColumns(table);
      if (columns.length === 0) continue;
      for await (const rows of store[key]!.pages())
        for (const row of rows as readonly Readonly<Record<string, unknown>>[])
          sealed += columns.filter((column) => row[column] !== null).length;
      onProgress?.({ table: table.name, sealed });
    }
    cipher.change();
    await store.compact();
    return { sealed };
  } finally {
    await store.close();
  }
}

import { join } from "node:path";
import { type HomeFolder, rowsOfHomes } from "./homes.ts";
import { bigint, type Table, type TableRow, text, UNIX } from "./table.ts";

const ALGORITHM = /^(?:ssh|ecdsa|sk-ssh|sk-ecdsa)-[\w@.-]+$/;
const KEY = /^[A-Za-z0-9+/=]+$/;

/** Lines of options, algorithm, key and comment (sshd(8)). */
export function authorizedKeyRows(content: string, key_file: string, uid: number): TableRow[] {
  return content.split("\n").flatMap((line) => {
    if (line.startsWith("#")) return [];
    const words = line.trim().split(/\s+/);
    const at = words.findIndex((word, i) => ALGORITHM.test(word) && KEY.test(words[i + 1] ?? ""));
    if (at < 0) return [];
    const [options, comment] = [words.slice(0, at).join(" "), words.slice(at + 2).join(" ")];
    return [{ uid, algorithm: words[at]!, key: words[at + 1]!, options, comment, key_file }];
  });
}

async function keysIn(home: HomeFolder): Promise<TableRow[]> {
  const files = ["authorized_keys", "authorized_keys2"].map((name) => join(home.path, ".ssh", name));
  const rows: TableRow[] = [];
  for (const file of files) rows.push(...authorizedKeyRows(await home.read(file), file, home.account.uid));
  return rows;
}

export const authorizedKeyTables: readonly Table[] = [
  {
    name: "authorized_keys",
    platforms: UNIX,
    columns: { ...bigint("uid"), ...text("algorithm key options comment key_file") },
    rows: () => rowsOfHomes(keysIn),
  },
];

// What people have in their home folders. They may put anything there, while the agent reads as root: so it reads what
// they own themselves, or what anybody may read in their folders, and only so much of it.
import { realpath, stat } from "node:fs/promises";
import { sep } from "node:path";
import { type OpenedFile, readRegular } from "../reading/regular-file.ts";
import { within } from "../reading/time-limit.ts";
import { type Account, accounts } from "./accounts.ts";
import { mapFew, namesIn, objectIn } from "./read.ts";
import type { TableRow } from "./table.ts";

/** For one table, and one home. */
const LIMITS = {
  fileBytes: 4 * 1024 * 1024,
  bytes: 64 * 1024 * 1024,
  files: 20_000,
  /** Names in a folder. */
  names: 20_000,
  ms: 15_000,
  rows: 2_000,
  cellCharacters: 10_000,
  /** Characters of all rows together. */
  characters: 1_000_000,
};

export class HomeFolder {
  readonly account: Account;
  readonly #realHome: string;
  readonly #endsAt = performance.now() + LIMITS.ms;
  #files = LIMITS.files;
  #bytes = LIMITS.bytes;

  private constructor(account: Account, realHome: string) {
    this.account = account;
    this.#realHome = realHome;
  }

  /** Null: there is no such folder. */
  static async open(account: Account): Promise<HomeFolder | null> {
    const path = await within(LIMITS.ms, account.home, realpath(account.home)).catch(() => null);
    return path === null ? null : new HomeFolder(account, path);
  }

  get path(): string {
    return this.account.home;
  }

  async read(path: string): Promise<string> {
    return (await this.bytes(path)).toString("utf8");
  }

  /** The content of a file; empty if it is missing, forbidden, no regular file, or beyond the limits. */
  async bytes(path: string): Promise<Buffer> {
    if (this.#files <= 0 || this.#bytes <= 0 || this.#isLate()) return Buffer.alloc(0);
    this.#files--;
    const maxBytes = Math.min(LIMITS.fileBytes, this.#bytes);
    try {
      const content = await readRegular(path, { maxBytes, mayRead: (file) => this.#mayRead(file) });
      this.#bytes -= content.length;
      return content;
    } catch {
      return Buffer.alloc(0);
    }
  }

  async json(path: string): Promise<Record<string, unknown>> {
    return objectIn(await this.read(path));
  }

  /** The names in a folder of this account's; none if a link leads to another one's. */
  async names(folder: string): Promise<string[]> {
    if (this.#isLate() || !(await this.#isOwnFolder(folder))) return [];
    const names = await namesIn(folder, LIMITS.names);
    // A link may have taken the folder's place meanwhile.
    return (await this.#isOwnFolder(folder)) ? names : [];
  }

  #isLate(): boolean {
    return performance.now() > this.#endsAt;
  }

  async #isOwnFolder(folder: string): Promise<boolean> {
    try {
      const reading = within(LIMITS.ms, folder, Promise.all([stat(folder), realpath(folder)]));
      const [stats, realPath] = await reading;
      return this.#mayRead({ stats, realPath });
    } catch {
      return false;
    }
  }

  /** What others may read counts only inside of the home, because a folder above may be closed to this account. */
  #mayRead({ stats, realPath }: OpenedFile): boolean {
    const isInside = realPath === this.#realHome || realPath.startsWith(this.#realHome + sep);
    if (process.platform === "win32") return isInside;
    const OTHERS_READ = 0o004;
    return stats.uid === this.account.uid || (isInside && (stats.mode & OTHERS_READ) !== 0);
  }
}

/** Accounts whose home folders may have files of their own. Several accounts may share one. */
async function homes(): Promise<Account[]> {
  const seen = new Set<string>(["", "/", "/nonexistent"]);
  return (await accounts()).filter(({ home }) => !seen.has(home) && seen.add(home));
}

/** The rows of all homes. What somebody has in theirs neither fails nor crowds out those of others. */
export async function rowsOfHomes(
  rowsOf: (home: HomeFolder) => Promise<readonly TableRow[]>,
  owners: () => Promise<readonly Account[]> = homes,
): Promise<TableRow[]> {
  const rows = await mapFew(await owners(), async (account) => {
    const home = await HomeFolder.open(account);
    return home === null ? [] : bounded(await rowsOf(home).catch(() => []));
  });
  return rows.flat();
}

const withShortCells = (row: TableRow): TableRow =>
  Object.fromEntries(
    Object.entries(row).map(([name, cell]) => [
      name,
      typeof cell === "string" ? cell.slice(0, LIMITS.cellCharacters) : cell,
    ]),
  );

/** What fits into the limits of one account. */
export function bounded(rows: readonly TableRow[]): readonly TableRow[] {
  let characters = 0;
  const fits = (row: TableRow) => {
    for (const cell of Object.values(row)) characters += String(cell ?? "").length;
    return characters <= LIMITS.characters;
  };
  const first = rows.slice(0, LIMITS.rows).map(withShortCells);
  const end = first.findIndex((row) => !fits(row));
  return end < 0 ? first : first.slice(0, end);
}

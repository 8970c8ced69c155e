// Writes the next migration from the difference between what the migrations make and what the tables declare:
//   tsx scripts/migration.ts <name>            the next number
//   tsx scripts/migration.ts --reset <name>    0001 anew, all others gone (before the first release only)
import { readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import pg from "pg";
import { describeSchema } from "../src/server/store/postgres/describe.ts";
import { evolve, NeedsHand } from "../src/server/store/postgres/evolve.ts";
import { create, migrate } from "../src/server/store/postgres/migrate.ts";
import { migrations } from "../src/server/store/postgres/migrations/index.ts";
import { type Migration, titleOf } from "../src/server/store/postgres/migrations/migration.ts";
import { tables } from "../src/server/tables.ts";
import { startPostgres } from "../test/support/postgres-server.ts";

const folder = join(import.meta.dirname, "../src/server/store/postgres/migrations");

function write({ number, name, transactional, statements }: Migration): string {
  const title = titleOf({ number, name, transactional, statements });
  const texts = statements.map((statement) => `    ${JSON.stringify(statement)},`).join("\n");
  const head = 'import type { Migration } from "./migration.ts";\n\n';
  const fields = `  number: ${number},\n  name: ${JSON.stringify(name)},\n  transactional: ${transactional},\n`;
  writeFileSync(
    join(folder, `${title}.ts`),
    `${head}export const migration: Migration = {\n${fields}  statements: [\n${texts}\n  ],\n};\n`,
  );
  return title;
}

function writeIndex(): void {
  const titles = readdirSync(folder)
    .filter((file) => /^\d{4}-.*\.ts$/.test(file))
    .sort()
    .map((file) => file.slice(0, -3));
  const imports = titles.map((title) => `import { migration as m${title.slice(0, 4)} } from "./${title}.ts";`);
  const listed = titles.map((title) => `m${title.slice(0, 4)}`).join(", ");
  const body = [
    "// Written by scripts/migration.ts.",
    ...imports,
    'import type { Migration } from "./migration.ts";',
    "",
  ];
  writeFileSync(
    join(folder, "index.ts"),
    `${body.join("\n")}\nexport const migrations: readonly Migration[] = [${listed}];\n`,
  );
}

async function main(args: readonly string[]): Promise<void> {
  const reset = args.includes("--reset");
  const name = args.find((arg) => !arg.startsWith("-"));
  if (!name || !/^[a-z][a-z0-9-]*$/.test(name))
    throw new NeedsHand("usage: tsx scripts/migration.ts [--reset] <name-in-kebab-case>");
  const known = reset ? [] : migrations;
  if (reset) for (const file of readdirSync(folder)) if (/^\d{4}-/.test(file)) rmSync(join(folder, file));

  const server = await startPostgres();
  const withDatabase = async <R>(database: string, work: (client: pg.Client) => Promise<R>): Promise<R> => {
    const client = new pg.Client({ connectionString: await server.createDatabase(database) });
    await client.connect();
    return work(client).finally(() => client.end());
  };
  try {
    const now = await withDatabase("migrated", async (client) => {
      await migrate(client, {}, known);
      return describeSchema(client);
    });
    const wanted = await withDatabase("declared", async (client) => {
      await create(client, tables);
      return describeSchema(client);
    });
    const { quick, slow } = evolve(tables, now, wanted);
    let number = known.at(-1)?.number ?? 0;
    if (quick.length > 0) console.log(write({ number: ++number, name, transactional: true, statements: quick }));
    if (slow.length > 0)
      console.log(write({ number: ++number, name: `${name}-slow`, transactional: false, statements: slow }));
    if (quick.length + slow.length === 0) console.log("the migrations make what the tables declare: nothing to write");
    writeIndex();
  } finally {
    await server.destroy();
  }
}

main(process.argv.slice(2)).catch((error: unknown) => {
  console.error(error instanceof NeedsHand ? error.message : error);
  process.exitCode = 1;
});

// --jq, and lists that are written as they arrive.
import { describe, expect, it } from "vitest";
import type { Send } from "../../src/client/transport.ts";
import { type RunOptions, runCli } from "../support/cli.ts";

const host = (id: number) => ({
  id,
  hostname: id === 3 ? 'odd\u001b[2J"name"' : `host-${id}`,
  platform: id % 2 === 0 ? "darwin" : "linux",
  seen_time: "2026-03-01T11:57:00.000Z",
});

/** A server with this many hosts; reports each page that it returns. */
const server =
  (total: number, onPage: (after: number) => void = () => {}): Send =>
  async (url) => {
    const { searchParams } = new URL(url);
    const after = Number(searchParams.get("after") ?? 0);
    const count = Math.min(Number(searchParams.get("per_page")), total - after);
    onPage(after);
    const hosts = Array.from({ length: count }, (_, at) => host(after + at + 1));
    return new Response(
      JSON.stringify({ hosts, meta: { has_next_results: after + count < total, has_previous_results: after > 0 } }),
    );
  };

const run = (argv: string[], options: RunOptions = {}) =>
  runCli(argv, { send: server(4), ...options, env: { SVC_API_TOKEN: "t", ...options.env } });

describe("--jq", () => {
  it("selects from the document that -o json prints, and prints texts without quotes", async () => {
    const { stdout, stderr, exitCode } = await run([
      "hosts",
      "list",
      "--jq",
      '[.[] | select(.platform == "darwin")] | map(.hostname) | sort[]',
    ]);
    expect({ stdout, stderr, exitCode }).toEqual({ stdout: "host-2\nhost-4\n", stderr: "", exitCode: 0 });
  });

  it("prints values that are not text as JSON, indented or one per line", async () => {
    const whole = await run(["hosts", "list", "-o", "json", "--jq", "map({id}) | .[:1]"]);
    expect(whole.stdout).toBe('[\n  {\n    "id": 1\n  }\n]\n');
    const lines = await run(["hosts", "list", "-o", "ndjson", "--jq", "select(.id > 2) | {id}"]);
    expect(lines.stdout).toBe('{"id":3}\n{"id":4}\n');
  });

  it("is applied after --fields, and works with --json, single objects, counts and plans", async () => {
    const flat = await run(["hosts", "list", "--fields", "id,hostname", "--jq", 'length, (.[0] | keys | join(","))']);
    expect(flat.stdout).toBe("4\nhostname,id\n");
    expect((await run(["hosts", "list", "--json", "--jq", "length"])).stdout).toBe("4\n");
    expect((await run(["exit-codes", "--jq", '.[] | select(.name == "pending").code'])).stdout).toBe("7\n");
    expect((await run(["version", "--jq", ".node"])).stdout).toBe(`${process.version}\n`);
    const api = await run(["api", "GET", "/hosts", "-F", "per_page=2", "--jq", ".hosts[].id"]);
    expect(api.stdout).toBe("1\n2\n");
  });

  it("overrides the format in the environment, but not one on the command line", async () => {
    expect((await run(["hosts", "list", "--jq", "length"], { env: { SVC_OUTPUT: "csv" } })).stdout).toBe("4\n");
    for (const format of ["csv", "yaml", "table"]) {
      const { exitCode, stdout, stderr } = await run(["hosts", "list", "-o", format, "--jq", "length"]);
      expect({ exitCode, stdout }).toEqual({ exitCode: 2, stdout: "" });
      expect(stderr).toContain(`--jq cannot be used with -o ${format}`);
    }
    expect((await run(["hosts", "list", "--watch", "-o", "ndjson", "--jq", ".id"])).exitCode).toBe(2);
  });

  it("refuses an invalid expression before any request, and reports the position", async () => {
    let asked = 0;
    const send: Send = (url, init) => {
      asked++;
      return server(4)(url, init);
    };
    const { exitCode, stdout, stderr } = await run(["hosts", "list", "--jq", ".[] | .hostname |"], { send });
    expect({ exitCode, stdout, asked }).toEqual({ exitCode: 2, stdout: "", asked: 0 });
    expect(stderr).toMatch(/^Error: --jq: syntax error, unexpected end of file at line 1, column 17\n/);
    expect(stderr).toContain(".[] | .hostname |\n");
    const unknown = await run(["hosts", "list", "--jq", ".[] | nope"], { send });
    expect(unknown).toMatchObject({ exitCode: 2, stdout: "" });
    expect(unknown.stderr).toContain("nope/0 is not defined at line 1, column 7");
    expect(asked).toBe(0);
  });

  it("exits with 2 if an expression fails on the data", async () => {
    const { exitCode, stderr } = await run(["hosts", "list", "--jq", ".[0].id.name"]);
    expect(exitCode).toBe(2);
    expect(stderr).toContain("Cannot index number with string");
  });

  it("has no access to this machine's files and environment", async () => {
    const { stdout } = await run(["hosts", "list", "--jq", 'env | has("SVC_API_TOKEN"), .HOME']);
    expect(stdout).toBe("false\n/home/web_user\n");
    expect((await run(["hosts", "list", "--jq", 'import "/etc/passwd" as $x; $x'])).exitCode).toBe(2);
    expect((await run(["hosts", "list", "--jq", "--from-file /etc/passwd"])).exitCode).toBe(2);
  });

  it("prints no name as an escape sequence on a terminal", async () => {
    for (const format of ["json", "ndjson"]) {
      const expression = format === "json" ? ".[2].hostname" : "select(.id == 3).hostname";
      const argv = ["hosts", "list", "-o", format, "--jq", expression];
      expect((await run(argv, { tty: true })).stdout).toBe('odd\\u001b[2J"name"\n');
      // A pipe gets the text unchanged, which is what jq -r does.
      expect((await run(argv)).stdout).toBe('odd\u001b[2J"name"\n');
    }
  });
});

describe("a long list", () => {
  /** The requested pages, and the content of stdout at each request. */
  async function watched(format: string, total = 1200) {
    const pages: { after: number; before: number }[] = [];
    let printed = 0;
    const send = server(total, (after) => pages.push({ after, before: printed }));
    const result = await run(["hosts", "list", "--all", "-o", format, "--fields", "id,hostname"], {
      send,
      onOut: (text) => {
        printed += text.length;
      },
    });
    return { pages, ...result };
  }

  it.each(["ndjson", "csv", "json"])("is written page by page as %s", async (format) => {
    const { pages, exitCode, stdout } = await watched(format);
    expect(exitCode).toBe(0);
    expect(pages.map(({ after }) => after)).toEqual([0, 500, 1000]);
    const [first, second, third] = pages.map(({ before }) => before);
    expect(first).toBe(0);
    expect(second).toBeGreaterThan(500 * 10);
    expect(third).toBeGreaterThan(1.9 * (second ?? 0));
    const ids =
      format === "json"
        ? JSON.parse(stdout).map(({ id }: { id: number }) => id)
        : format === "csv"
          ? stdout
              .trim()
              .split("\n")
              .slice(1)
              .map((line) => Number.parseInt(line, 10))
          : stdout
              .trim()
              .split("\n")
              .map((line) => JSON.parse(line).id);
    expect(ids).toEqual(Array.from({ length: 1200 }, (_, at) => at + 1));
  });

  it("has one header as csv, and as json is the same text that JSON.stringify produces", async () => {
    expect((await watched("csv")).stdout.match(/id,hostname/g)).toHaveLength(1);
    const { stdout } = await watched("json", 501);
    expect(stdout).toBe(`${JSON.stringify(JSON.parse(stdout), null, 2)}\n`);
    expect((await watched("json", 0)).stdout).toBe("[]\n");
    expect((await watched("csv", 0)).stdout).toBe("id,hostname\n");
    expect((await watched("ndjson", 0)).stdout).toBe("");
  });

  it("ends at --limit, and reports after it that there is more", async () => {
    const { stdout, stderr } = await run(["hosts", "list", "--limit", "700", "-o", "ndjson", "--fields", "id"], {
      send: server(1200),
    });
    expect(stdout.trim().split("\n")).toHaveLength(700);
    expect(stderr).toBe("only the first 700 are shown; use --limit N or --all for more\n");
  });
});

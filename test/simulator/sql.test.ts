import { describe, expect, it } from "vitest";
import { answerSql } from "../../src/simulator/sql/answer.ts";
import type { SqlRow, Tables } from "../../src/simulator/sql/execute.ts";
import { ask, makeMachine } from "./machines.ts";

const people: SqlRow[] = [
  { id: 1, name: "ada", team: "a", age: 36, note: null },
  { id: 2, name: "Bob", team: "b", age: 9, note: "x_y" },
  { id: 3, name: "chen", team: "a", age: 50, note: "100%" },
];
const teams: SqlRow[] = [
  { team: "a", title: "Alpha" },
  { team: "c", title: "Gamma" },
];
const tables: Tables = {
  table: (name) =>
    name === "people"
      ? { columns: ["id", "name", "team", "age", "note"], rows: people }
      : name === "teams"
        ? { columns: ["team", "title"], rows: teams }
        : null,
};
const run = (sql: string) => answerSql(sql, tables);
const ids = (where: string) => run(`SELECT id FROM people WHERE ${where}`).rows.map((row) => Number(row.id));

describe("the evaluator", () => {
  it.each<[string, number[]]>([
    ["age >= 36", [1, 3]],
    ["age > '9'", [1, 3]],
    ["name = 'ada'", [1]],
    ["name <> 'ada'", [2, 3]],
    ["name LIKE 'A%'", [1]],
    ["name NOT LIKE '%b%'", [1, 3]],
    ["name GLOB 'A*'", []],
    ["note LIKE 'x_y'", [2]],
    ["note IS NULL", [1]],
    ["note IS NOT NULL AND age < 40", [2]],
    ["note = NULL", []],
    ["NOT (team = 'a')", [2]],
    ["team IN ('b', 'c')", [2]],
    ["id NOT IN (1, 2)", [3]],
    ["team = 'b' OR age = 50 AND team = 'a'", [2, 3]],
    ["(team = 'b' OR age = 50) AND team = 'a'", [3]],
    ["age BETWEEN 9 AND 36", [1, 2]],
    ["age % 2 = 0 AND age / 2 > 18", [3]],
    ["EXISTS (SELECT 1 FROM teams AS t WHERE t.team = people.team)", [1, 3]],
    ["team IN (SELECT team FROM teams)", [1, 3]],
    ["lower(name) = 'bob'", [2]],
    ["CASE WHEN age > 40 THEN 1 ELSE 0 END = 1", [3]],
    ["1", [1, 2, 3]],
    ["0", []],
  ])("selects the rows where %s", (where, expected) => {
    expect(ids(where)).toEqual(expected);
  });

  it.each<[string, Record<string, string>[]]>([
    ["SELECT 1", [{ "1": "1" }]],
    ["SELECT 'a' || 'b' AS x, NULL AS n;", [{ x: "ab", n: "" }]],
    ["SELECT COUNT(*) FROM people WHERE id > 9", [{ "COUNT(*)": "0" }]],
    ["SELECT SUM(age) AS s, MAX(name) AS m FROM people", [{ s: "95", m: "chen" }]],
    ["SELECT SUM(age) AS s FROM people WHERE id > 9", [{ s: "" }]],
    ["SELECT team, count(*) AS n FROM people GROUP BY team HAVING n > 1", [{ team: "a", n: "2" }]],
    ["SELECT team, count(*) AS n FROM people GROUP BY team ORDER BY n DESC LIMIT 1", [{ team: "a", n: "2" }]],
    ["SELECT DISTINCT team FROM people ORDER BY team DESC", [{ team: "b" }, { team: "a" }]],
    ["SELECT id FROM people ORDER BY age DESC LIMIT 1 OFFSET 1", [{ id: "1" }]],
    [
      "SELECT p.id, t.title FROM people p LEFT JOIN teams t USING (team) WHERE p.id < 3",
      [
        { id: "1", title: "Alpha" },
        { id: "2", title: "" },
      ],
    ],
    ["SELECT id FROM people WHERE id = 1 UNION ALL SELECT 7", [{ id: "1" }, { id: "7" }]],
    ["SELECT 1 FROM people UNION SELECT 1", [{ "1": "1" }]],
    ["SELECT (SELECT max(age) FROM people) AS top -- a remark", [{ top: "50" }]],
  ])("evaluates %s", (sql, rows) => {
    expect(run(sql)).toEqual({ status: 0, message: "", rows });
  });

  it.each([
    ["SELECT * FROM nothing", "no such table: nothing"],
    ["SELECT wrong FROM people", "no such column: wrong"],
    ["SELECT * FORM people", 'near "FORM": syntax error'],
    ["DELETE FROM people", 'near "DELETE": syntax error'],
    ["SELECT", "incomplete input in 6 characters"],
    ["SELECT 'open", 'unrecognized token: "\'open"'],
  ])("fails %s like the agent", (sql, message) => {
    expect(run(sql)).toEqual({ status: 1, message, rows: [] });
  });

  it("returns one dummy row for unsupported SQL", () => {
    const dummy = { status: 0, message: "", rows: [{ "1": "1" }] };
    expect(run("WITH x AS (SELECT 1) SELECT * FROM x")).toEqual(dummy);
    expect(run("SELECT regex_match(name, 'a', 0) FROM people")).toEqual(dummy);
    expect(ask(makeMachine("ubuntu"), "SELECT * FROM shadow WHERE username = 'root'")).toEqual(dummy);
  });
});

describe("label queries", () => {
  const member = (platform: string, sql: string) => ask(makeMachine(platform), sql).rows.length > 0;

  it.each<[string, string[], string[]]>([
    ["select 1 from os_version where platform = 'ubuntu';", ["ubuntu"], ["debian", "macos", "windows"]],
    ["select 1 from os_version where platform = 'darwin'", ["macos"], ["ubuntu", "windows"]],
    ["select 1 from os_version where platform = 'windows'", ["windows"], ["ubuntu"]],
    ["SELECT 1 FROM os_version WHERE major >= 13 AND platform='darwin'", ["macos"], ["ubuntu"]],
    ["SELECT 1 FROM os_version WHERE major >= 99 AND platform='darwin'", [], ["macos"]],
    [
      "select 1 from os_version where platform = 'centos' OR name LIKE '%centos%'",
      ["centos", "centos-stream"],
      ["rhel"],
    ],
    ["select 1 from os_version where name like '%red hat%'", ["rhel"], ["fedora"]],
    ["select 1 from os_version where name = 'Fedora Linux'", ["fedora"], ["rhel"]],
    [
      "select 1 from os_version where platform in ('rhel','amzn') and not (name like 'Red%')",
      ["fedora", "amazon"],
      ["rhel"],
    ],
    ["select 1 from osquery_info where build_platform = 'linux' or platform_mask = 9", ["arch", "debian"], ["windows"]],
  ])("evaluates %s", (sql, members, others) => {
    expect(members.filter((platform) => !member(platform, sql))).toEqual([]);
    expect(others.filter((platform) => member(platform, sql))).toEqual([]);
  });
});

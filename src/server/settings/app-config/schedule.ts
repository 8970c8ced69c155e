// Validates queries, packs and decorators in agent options (docs/protocols/agent.md, Configuration). Agents drop
// invalid ones silently.

import { sqlProblem } from "../../../sql/syntax.ts";
import { isRecord } from "../../../text/record.ts";
import { badRequest } from "../../platform/core/errors.ts";
import { unsupportedKey, wrongType } from "./merge.ts";

const MAX_INTERVAL = 604_800;
const queryKeys = new Set([
  "query",
  "interval",
  "snapshot",
  "removed",
  "platform",
  "version",
  "shard",
  "denylist",
  "startup_priority",
  "description",
  "value",
]);
const packKeys = new Set(["queries", "platform", "version", "shard", "discovery"]);

export function checkSchedule(value: unknown, at: string): void {
  if (value === undefined) return;
  if (!isRecord(value)) throw wrongType(at, "object", value);
  for (const [name, query] of Object.entries(value)) checkQuery(name, query, `${at}.${name}`);
}

export function checkPacks(value: unknown, at: string): void {
  if (value === undefined) return;
  if (!isRecord(value)) throw wrongType(at, "object", value);
  for (const [name, pack] of Object.entries(value)) {
    const here = `${at}.${name}`;
    // A text here would name a file on the host.
    if (!isRecord(pack)) throw wrongType(here, "object", pack);
    for (const key of Object.keys(pack)) if (!packKeys.has(key)) throw unsupportedKey(`${here}.${key}`, packKeys);
    checkShard(pack.shard, `${here}.shard`);
    checkSqlList(pack.discovery, `${here}.discovery`);
    checkSchedule(pack.queries, `${here}.queries`);
  }
}

function checkQuery(name: string, query: unknown, at: string): void {
  if (/^(query|cache|config_views)\./.test(name) || /(epoch|counter)$/.test(name) || name.trim() === "")
    throw badRequest(
      `the query name '${name}' is skipped by agents: it must not be empty, start with query., cache. or config_views., or end with epoch or counter`,
      at,
    );
  if (!isRecord(query)) throw wrongType(at, "object", query);
  for (const key of Object.keys(query)) if (!queryKeys.has(key)) throw unsupportedKey(`${at}.${key}`, queryKeys);
  if (typeof query.query !== "string") throw wrongType(`${at}.query`, "string", query.query);
  checkSql(query.query, `${at}.query`);
  checkNumber(query.interval, `${at}.interval`, 1, MAX_INTERVAL);
  checkShard(query.shard, `${at}.shard`);
  for (const key of ["snapshot", "removed", "denylist"])
    if (query[key] !== undefined && typeof query[key] !== "boolean")
      throw wrongType(`${at}.${key}`, "boolean", query[key]);
  for (const key of ["platform", "version"])
    if (query[key] !== undefined && typeof query[key] !== "string")
      throw wrongType(`${at}.${key}`, "string", query[key]);
}

const checkShard = (value: unknown, at: string): void => checkNumber(value, at, 0, 100);

/** Agents accept numbers as text too. */
function checkNumber(value: unknown, at: string, min: number, max: number): void {
  if (value === undefined) return;
  const number = typeof value === "string" && /^\d{1,15}$/.test(value) ? Number(value) : value;
  if (typeof number !== "number" || !Number.isInteger(number)) throw wrongType(at, "integer", value);
  if (number < min || number > max) throw badRequest(`'${at}' must be from ${min} to ${max}`, at);
}

export function checkDecorators(value: unknown, at: string): void {
  if (value === undefined) return;
  if (!isRecord(value)) throw wrongType(at, "object", value);
  for (const [key, part] of Object.entries(value)) {
    const here = `${at}.${key}`;
    if (key === "load" || key === "always") checkSqlList(part, here);
    else if (key === "interval") checkIntervals(part, here);
    else throw unsupportedKey(here, ["load", "always", "interval"]);
  }
}

function checkIntervals(value: unknown, at: string): void {
  if (!isRecord(value)) throw wrongType(at, "object", value);
  for (const [seconds, queries] of Object.entries(value)) {
    if (!/^[1-9]\d{0,8}$/.test(seconds) || Number(seconds) % 60 !== 0)
      throw badRequest(`'${at}.${seconds}': intervals of decorators are multiples of 60 seconds`, `${at}.${seconds}`);
    checkSqlList(queries, `${at}.${seconds}`);
  }
}

function checkSqlList(value: unknown, at: string): void {
  if (value === undefined) return;
  if (!Array.isArray(value)) throw wrongType(at, "array", value);
  value.forEach((item, i) => void checkSqlText(item, `${at}.${i}`));
}

/** Views by name, each with the query that it stands for. */
export function checkViews(value: unknown, at: string): void {
  for (const [name, sql] of Object.entries(value ?? {})) checkSqlText(sql, `${at}.${name}`);
}

/** Tables that agents fill from databases on the host. */
export function checkTables(value: unknown, at: string): void {
  for (const [name, table] of Object.entries(value ?? {})) {
    const here = `${at}.${name}`;
    if (!isRecord(table)) throw wrongType(here, "object", table);
    if (table.query !== undefined) checkSqlText(table.query, `${here}.query`);
  }
}

function checkSqlText(value: unknown, at: string): void {
  if (typeof value !== "string") throw wrongType(at, "string", value);
  checkSql(value, at);
}

function checkSql(sql: string, at: string): void {
  if (sql.trim() === "") throw badRequest(`'${at}' must not be empty`, at);
  const problem = sqlProblem(sql);
  if (problem !== null) throw badRequest(problem, at);
}

// Requests generated from the endpoint table: valid ones, ones with a single error, and nonsense. The same seed
// produces the same requests.
import type { z } from "zod";
import type { AnyEndpoint } from "../../src/api/endpoint.ts";
import { fullPath, versions } from "../../src/api/paths.ts";

export type Kind = "valid" | "nearly valid" | "random";

export interface FuzzRequest {
  readonly endpoint: AnyEndpoint;
  readonly kind: Kind;
  readonly method: string;
  readonly path: string;
  /** The body that is sent; undefined for none. */
  readonly body: string | undefined;
  readonly headers: Record<string, string>;
}

/** mulberry32: small, and good enough to choose by. */
export class Dice {
  #state: number;

  constructor(seed: number) {
    this.#state = seed >>> 0;
  }
  next(): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0;
    let t = this.#state;
    t = Math.imul(t ^ (t >>> 15), t | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 4_294_967_296;
  }
  int(below: number): number {
    return Math.floor(this.next() * below);
  }
  pick<T>(items: readonly T[]): T {
    return items[this.int(items.length)]!;
  }
  chance(of: number): boolean {
    return this.next() < of;
  }
}

const nastyTexts = [
  "",
  " ",
  "x",
  "null",
  "true",
  "0",
  "-1",
  "1e999",
  "9007199254740993",
  "99999999999999999999999",
  "NaN",
  "' OR 1=1 --",
  '"; DROP TABLE hosts; --',
  "%_\\%",
  "\u0000",
  "a\u0000b",
  "\ud800",
  "\u{1f600}",
  "é".normalize("NFD"),
  "../../etc/passwd",
  "{{7*7}}",
  "$(reboot)",
  "=1+1",
  "constructor",
  "__proto__",
  "toString",
  "2026-02-30T00:00:00Z",
  "0000-00-00",
  "+275760-09-13T00:00:00.001Z",
  "\r\nX-Injected: 1",
  "a".repeat(300),
  "z".repeat(6000),
];
const nastyValues: readonly unknown[] = [
  null,
  true,
  false,
  0,
  -0,
  -1,
  1.5,
  1e308,
  2 ** 53,
  -(2 ** 63),
  [],
  {},
  [null],
  [[[[]]]],
  { a: { b: { c: null } } },
  { constructor: 1, toString: 2 },
  Array.from({ length: 1500 }, (_, i) => i),
];

export class RequestFuzz {
  readonly dice: Dice;
  readonly #endpoints: readonly AnyEndpoint[];
  /** Ids that are worth trying. */
  readonly #ids: () => readonly number[];

  constructor(seed: number, endpoints: readonly AnyEndpoint[], ids: () => readonly number[]) {
    this.dice = new Dice(seed);
    this.#endpoints = endpoints;
    this.#ids = ids;
  }

  next(): FuzzRequest {
    const { dice } = this;
    const endpoint = dice.pick(this.#endpoints);
    const kind = dice.pick<Kind>(["valid", "nearly valid", "nearly valid", "random"]);
    const params = this.#strings(endpoint.params, true);
    const query = this.#strings(endpoint.query, false);
    let body: unknown = endpoint.hasBody ? this.#value(endpoint.body, 0) : undefined;
    if (kind === "nearly valid") {
      const where = dice.int(3);
      if (where === 0) spoilText(params, dice);
      else if (where === 1 || !endpoint.hasBody) spoilText(query, dice);
      else body = this.#spoil(body);
    }
    if (kind === "random") {
      for (const key of Object.keys(params)) if (dice.chance(0.5)) params[key] = dice.pick(nastyTexts);
      for (const key of Object.keys(query)) query[key] = dice.pick(nastyTexts);
      if (dice.chance(0.3)) query[dice.pick(nastyTexts)] = dice.pick(nastyTexts);
      if (endpoint.hasBody) body = this.#anything(0);
    }
    const method =
      kind === "random" && dice.chance(0.05) ? dice.pick(["GET", "POST", "PUT", "PATCH", "DELETE"]) : endpoint.method;
    let text = body === undefined || method === "GET" ? undefined : JSON.stringify(body);
    if (kind === "random" && text !== undefined && dice.chance(0.15)) text = text.slice(0, dice.int(text.length));
    return {
      endpoint,
      kind,
      method,
      path: this.#path(endpoint, params, query),
      body: text,
      headers: text === undefined ? {} : { "content-type": "application/json" },
    };
  }

  #path(endpoint: AnyEndpoint, params: Record<string, string>, query: Record<string, string>): string {
    const at = fullPath(endpoint, this.dice.pick(versions)).replaceAll(/:([a-z_]+)/g, (_, name: string) =>
      encode(params[name] || "x"),
    );
    const pairs = Object.entries(query).map(([key, value]) => `${encode(key)}=${encode(value)}`);
    return pairs.length === 0 ? at : `${at}?${pairs.join("&")}`;
  }

  /** Text for each parameter; some optional ones are omitted. */
  #strings(schema: z.ZodType, all: boolean): Record<string, string> {
    const values: Record<string, string> = {};
    for (const [name, part] of Object.entries(shapeOf(schema))) {
      if (!all && this.dice.chance(0.7)) continue;
      values[name] = this.#text(part);
    }
    if (values.order_direction !== undefined && values.order_key === undefined) delete values.order_direction;
    if (values.after !== undefined && values.order_key === undefined) delete values.after;
    return values;
  }

  /** A text that the parameter accepts, if one of the usual ones is. */
  #text(schema: z.ZodType): string {
    const { dice } = this;
    const guesses = [
      () => String(dice.pick([...this.#ids(), 1])),
      () => dice.pick(["true", "false", "1", "0"]),
      () => dice.pick(["asc", "desc"]),
      () => dice.pick(enumOf(schema)),
      () => dice.pick(["abc", "host", "example.com", "a@b", "24.04", "2026-01-01T00:00:00Z"]),
      () => String(dice.int(100)),
    ];
    for (let i = 0; i < 12; i++) {
      const guess = dice.pick(guesses)();
      if (guess !== undefined && schema.safeParse(guess).success) return guess;
    }
    return "1";
  }

  /** A value that the schema usually accepts. */
  #value(schema: z.ZodType, depth: number): unknown {
    const { dice } = this;
    const def = schema.def as unknown as Record<string, unknown> & { type: string };
    switch (def.type) {
      case "object": {
        const made: Record<string, unknown> = {};
        for (const [name, part] of Object.entries(shapeOf(schema))) {
          const value = this.#value(part, depth + 1);
          if (value !== undefined) made[name] = value;
        }
        return made;
      }
      case "optional":
      case "default":
      case "prefault":
        return dice.chance(0.5) ? undefined : this.#value(def.innerType as z.ZodType, depth);
      case "nullable":
        return dice.chance(0.2) ? null : this.#value(def.innerType as z.ZodType, depth);
      case "pipe":
        return this.#value(def.in as z.ZodType, depth);
      case "array":
        return Array.from({ length: dice.int(4) }, () => this.#value(def.element as z.ZodType, depth + 1));
      case "record":
        return Object.fromEntries(
          Array.from({ length: dice.int(3) }, (_, i) => [
            `key${i}`,
            this.#value(def.valueType as z.ZodType, depth + 1),
          ]),
        );
      case "union":
        return this.#value(dice.pick(def.options as z.ZodType[]), depth);
      case "enum":
        return dice.pick(enumOf(schema));
      case "literal":
        return dice.pick(def.values as unknown[]);
      case "boolean":
        return dice.chance(0.5);
      case "number":
        return dice.pick([...this.#ids(), dice.int(50)]);
      case "string":
        return dice.pick([
          "text",
          `name ${dice.int(40)}`,
          `u${dice.int(1e6)}@example.com`,
          "a-good-passw0rd!",
          "observer",
        ]);
      case "null":
        return null;
      default:
        return depth > 3 ? 1 : this.#anything(depth + 1);
    }
  }

  #anything(depth: number): unknown {
    const { dice } = this;
    if (depth < 4 && dice.chance(0.4)) {
      const length = dice.int(4);
      if (dice.chance(0.5)) return Array.from({ length }, () => this.#anything(depth + 1));
      return Object.fromEntries(
        Array.from({ length }, () => [dice.pick(nastyTexts.slice(0, 28)), this.#anything(depth + 1)]),
      );
    }
    return dice.chance(0.5) ? dice.pick(nastyTexts) : dice.pick(nastyValues);
  }

  /** The value with one part changed, omitted or added. */
  #spoil(value: unknown): unknown {
    const { dice } = this;
    if (Array.isArray(value) && value.length > 0 && dice.chance(0.8)) {
      const at = dice.int(value.length);
      return value.map((item, i) => (i === at ? this.#spoil(item) : item));
    }
    if (typeof value === "object" && value !== null && !Array.isArray(value)) {
      const entries = Object.entries(value);
      const how = dice.int(4);
      if (entries.length === 0 || how === 0) return { ...value, [dice.pick(["id", "role", "team_id", "nope", ""])]: 1 };
      const at = dice.int(entries.length);
      if (how === 1) return Object.fromEntries(entries.filter((_, i) => i !== at));
      return Object.fromEntries(entries.map(([key, item], i) => [key, i === at ? this.#spoil(item) : item]));
    }
    return dice.chance(0.5) ? dice.pick(nastyTexts) : dice.pick(nastyValues);
  }
}

const shapeOf = (schema: z.ZodType): Record<string, z.ZodType> =>
  "shape" in schema ? (schema.shape as Record<string, z.ZodType>) : {};

function enumOf(schema: z.ZodType): string[] {
  const def = schema.def as unknown as {
    type: string;
    entries?: Record<string, string>;
    innerType?: z.ZodType;
    in?: z.ZodType;
  };
  if (def.entries) return Object.values(def.entries);
  const inner = def.innerType ?? def.in;
  return inner ? enumOf(inner) : ["x"];
}

/** Lone surrogates cannot be written as UTF-8. */
const encode = (text: string): string => encodeURIComponent(text.toWellFormed());

function spoilText(values: Record<string, string>, dice: Dice): void {
  const keys = Object.keys(values);
  if (keys.length > 0) values[dice.pick(keys)] = dice.pick(nastyTexts);
}

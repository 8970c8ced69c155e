import { limit } from "../../../platform/core/limits.ts";

/** Maximum rows per query; the rest is ignored. */
export const ROWS_MAX = 20_000;
export const ADDITIONAL_ROWS_MAX = 1_000;
export const ADDITIONAL_CELL_MAX = 8_192;
export const ADDITIONAL_CHARACTERS_MAX = 1024 * 1024;
/** Bodies above this size (characters) are parsed query by query and row by row. */
export const WHOLE_MAX = 2 * 1024 * 1024;
/** Maximum size of one query's rows (characters). */
export const ANSWER_MAX = 24 * 1024 * 1024;
/** Maximum rows of a body that is parsed in parts; many tiny rows would exhaust memory. */
export const ALL_ROWS_MAX = 200_000;

export const resultLimits = [
  limit({
    what: "rows of one query of an agent",
    max: ROWS_MAX,
    unit: "rows",
    beyond: "The rest is ignored.",
  }),
  limit({
    what: "rows of one query of an agent, as JSON",
    max: ANSWER_MAX,
    unit: "characters",
    beyond: "The query counts as not answered.",
  }),
  limit({
    what: "rows of all queries in a large message of an agent",
    max: ALL_ROWS_MAX,
    unit: "rows",
    per: "message",
    beyond: "The rest is ignored.",
  }),
  limit({
    what: "rows of an additional query",
    max: ADDITIONAL_ROWS_MAX,
    unit: "rows",
    beyond: "The rest is ignored.",
  }),
  limit({
    what: "cell of an additional query",
    max: ADDITIONAL_CELL_MAX,
    unit: "characters",
    beyond: "The rest is cut off.",
  }),
  limit({
    what: "all cells of an additional query",
    max: ADDITIONAL_CHARACTERS_MAX,
    unit: "characters",
    beyond: "Rows after them are ignored.",
  }),
];

// Columns of past and upcoming activities.
import type { Column } from "../../output/table.ts";
import { cell } from "../../output/text.ts";

export const who: Column = {
  key: "actor_full_name",
  header: "who",
  text: (name) => (typeof name === "string" ? name : "(svc)"),
};

/** Renders the details as key=value pairs; the other output formats print the object. */
export const details: Column = {
  key: "details",
  text: (value) =>
    typeof value !== "object" || value === null
      ? ""
      : Object.entries(value)
          .filter(([, field]) => field !== null && field !== "")
          .map(([key, field]) => `${key}=${cell(field)}`)
          .join(" "),
};

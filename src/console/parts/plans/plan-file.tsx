import type { ReactElement } from "react";
import type { Plan } from "../../../api/edge/plans.ts";
import { Copyable } from "../as-command.tsx";
import { fileOf } from "./plan-files.ts";

/** The changes of a plan as a file, with the command that takes it. */
export function PlanFile({ changes }: { readonly changes: Plan["changes"] }): ReactElement {
  const { name, text, command } = fileOf(changes);
  return (
    <>
      <Copyable label={name} text={text} />
      <Copyable label="Command line" text={command} />
    </>
  );
}

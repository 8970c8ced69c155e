import { z } from "zod";
import { SetSetupAssistant } from "../../../../../api/devices/setup-assistants.ts";
import { checkProfile, type SetupAssistantRow } from "../../../../devices/apple/portal/assistants.ts";
import type { Context } from "../../../../platform/core/context.ts";
import { needPremium } from "../../../../platform/core/http/tier.ts";
import type { RequestedChange } from "../../changes.ts";
import { parsed } from "../../parse.ts";
import { ownersOf, type SharedRows } from "../../shared-rows.ts";
import type { Thing } from "../../values.ts";

/** The object's name is that of the file. */
const AssistantValue = z.strictObject({ enrollment_profile: SetSetupAssistant.shape.enrollment_profile });
export type DesiredAssistant = z.output<typeof AssistantValue>;

export function* assistantThings(rows: readonly SetupAssistantRow[], shared: SharedRows): Generator<Thing> {
  const ownerOf = ownersOf(shared);
  for (const row of rows) {
    const owner = ownerOf(row);
    const value = { enrollment_profile: row.enrollment_profile };
    if (owner !== undefined) yield { kind: "setup_assistant", owner, name: row.name, value };
  }
}

export function readAssistant(ctx: Context, { name, value }: RequestedChange): DesiredAssistant {
  needPremium(ctx);
  parsed(z.object({ name: SetSetupAssistant.shape.name }), { name });
  const input = parsed(AssistantValue, value);
  checkProfile(input.enrollment_profile);
  return input;
}

// What users read in their calendar.
import { createHash } from "node:crypto";

export const TITLE = "Maintenance of your computer";
const TEXT_MAX = 6_000;

interface Policy {
  readonly name: string;
  readonly description: string;
  readonly resolution: string | null;
}

interface EventFacts {
  readonly organization: string;
  readonly hostName: string;
  readonly policies: readonly Policy[];
}

export function descriptionOf({ organization, hostName, policies }: EventFacts): string {
  const who = organization.trim() || "Your organization";
  const about = policies.map(({ name, description, resolution }) =>
    [
      name,
      ...(description.trim() === "" ? [] : [`Why it matters: ${description.trim()}`]),
      ...(resolution?.trim() ? [`What has to be done: ${resolution.trim()}`] : []),
    ].join("\n"),
  );
  return [
    `${who} has reserved this time to make changes to your computer ${hostName}. Leave it on, connected to the internet ` +
      "and to power. You can move this event to another time.",
    ...about,
  ]
    .join("\n\n")
    .slice(0, TEXT_MAX);
}

export const hashOf = (text: string): string => createHash("sha256").update(text).digest("hex");

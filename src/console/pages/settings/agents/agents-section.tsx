import type { ReactElement } from "react";
import { may } from "../../../session.ts";
import { ConfigEntries } from "../app-config/config-entries.tsx";
import { ConfigSection } from "../app-config/config-section.tsx";
import { yaraRules } from "../app-config/entry-lists.ts";

export default function AgentsSection(): ReactElement {
  return (
    <ConfigSection id="agents">{may("config:read_secrets", null) && <ConfigEntries list={yaraRules} />}</ConfigSection>
  );
}

import type { ReactElement } from "react";
import { useUrl } from "../url.ts";
import { type Tab, Tabs } from "./tabs.tsx";

export interface ContentTab extends Tab {
  readonly content: () => ReactElement;
}

interface UrlTabsProps {
  readonly label: string;
  readonly tabs: readonly ContentTab[];
  /** Parameters that are not of one tab. */
  readonly kept?: readonly string[];
}

/** Tabs whose selection is in the URL. Another tab has other filters, so those of the one before are dropped. */
export function UrlTabs({ label, tabs, kept = [] }: UrlTabsProps): ReactElement | null {
  const url = useUrl();
  const selected = tabs.find(({ id }) => id === url.get("tab")) ?? tabs[0];
  if (selected === undefined) return null;
  const select = (id: string) => {
    const dropped = [...url.all.keys()]
      .filter((name) => name !== "team_id" && !kept.includes(name))
      .map((name) => [name, null]);
    url.set({ ...Object.fromEntries(dropped), tab: id === tabs[0]!.id ? null : id });
  };
  return (
    <Tabs label={label} tabs={tabs} selected={selected.id} onSelect={select}>
      {selected.content()}
    </Tabs>
  );
}

import { type ReactElement, useState } from "react";
import type { HostFacetsReply } from "../../../../api/inventory/host-facets.ts";
import { hostsApi } from "../../../../api/inventory/hosts.ts";
import { useRead } from "../../../api.ts";
import { formatted } from "../../../parts/counted.ts";
import { ErrorMessage } from "../../../parts/error-message.tsx";
import type { AnyListDefinition } from "../../../parts/list/definition.ts";
import { type ListState, useListState } from "../../../parts/list/list-state.ts";
import { useUrl } from "../../../url.ts";
import { type Facet, type FacetValue, shownFacets } from "./facet-values.ts";

const STORED = "svc-host-facets";

/** Counts of the hosts by their properties. Each value narrows the list. Nothing is counted while it is folded. */
export function Facets({ definition }: { readonly definition: AnyListDefinition }): ReactElement {
  const { limits } = useListState(definition);
  const [isOpen, setOpen] = useState(() => localStorage.getItem(STORED) === "open" && innerWidth > 768);
  const toggle = () => {
    localStorage.setItem(STORED, isOpen ? "folded" : "open");
    setOpen(!isOpen);
  };
  return (
    <section aria-label="Facets" className="facets">
      <button type="button" className="plain small" aria-expanded={isOpen} onClick={toggle}>
        Facets
      </button>
      {isOpen && <Counts limits={limits} />}
    </section>
  );
}

function Counts({ limits }: Pick<ListState, "limits">): ReactElement {
  const by = shownFacets.map(({ name }) => name).join(",");
  const reply = useRead(hostsApi.facets, { query: { ...limits, by } }, { isLive: true });
  // Not a status: the first one on the page is that of the list.
  if (reply.data === undefined)
    return reply.isError ? (
      <ErrorMessage error={reply.error} onRetry={() => void reply.refetch()} />
    ) : (
      <p className="loading">Loading counts</p>
    );
  const { facets } = reply.data;
  return (
    <div className="facet-groups" aria-busy={reply.isPlaceholderData}>
      {shownFacets.map((facet) => (
        <Group key={facet.name} facet={facet} counts={facets.find(({ by: name }) => name === facet.name)} />
      ))}
    </div>
  );
}

interface GroupProps {
  readonly facet: Facet;
  readonly counts: HostFacetsReply["facets"][number] | undefined;
}

const MAX_FOLDED = 6;

function Group({ facet, counts }: GroupProps): ReactElement | null {
  const [isWhole, setWhole] = useState(false);
  const values = (counts?.values ?? []).filter(({ count }) => count > 0);
  if (values.length === 0) return null;
  const shown = isWhole ? values : values.slice(0, MAX_FOLDED);
  return (
    <section aria-label={facet.title}>
      <h2>{facet.title}</h2>
      <ul className="plain-list">
        {shown.map((value) => (
          <Value key={String(value.value)} facet={facet} value={value} />
        ))}
      </ul>
      {values.length > MAX_FOLDED && (
        <button type="button" className="plain small" aria-expanded={isWhole} onClick={() => setWhole(!isWhole)}>
          {isWhole ? "Fewer" : `${values.length - MAX_FOLDED} more`}
        </button>
      )}
      {isWhole && counts !== undefined && counts.other > 0 && (
        <p className="quiet small">Other values: {formatted(counts.other)}</p>
      )}
    </section>
  );
}

function Value({ facet, value }: { readonly facet: Facet; readonly value: FacetValue }): ReactElement {
  const url = useUrl();
  const isSet = facet.isSet(value, url.all);
  return (
    <li>
      <button
        type="button"
        className="facet"
        aria-pressed={isSet}
        onClick={() => url.set({ ...facet.toggle(value, url.all), page: null })}
      >
        <span>{facet.text(value)}</span> <span className="quiet">{formatted(value.count)}</span>
      </button>
    </li>
  );
}

import type { ReactElement } from "react";
import type { AnyEndpoint } from "../../../api/endpoint.ts";
import { formatted } from "../counted.ts";
import { type ListDefinition, selectedCount } from "./definition.ts";
import type { useSelection } from "./use-selection.ts";

interface SelectionBarProps<E extends AnyEndpoint, Row> {
  readonly definition: ListDefinition<E, Row>;
  readonly selected: ReturnType<typeof useSelection<Row>>;
  readonly pageRows: readonly Row[];
  readonly count: number | undefined;
  readonly limits: Readonly<Record<string, string>>;
}

/** What is selected, and what can be done with it. The row is always there, so that nothing moves. */
export function SelectionBar<E extends AnyEndpoint, Row>(props: SelectionBarProps<E, Row>): ReactElement {
  const { definition, selected, pageRows, count, limits } = props;
  const { selection } = selected;
  const isAny = selectedCount(selection) > 0;
  const isWholePage =
    selection.kind === "rows" && pageRows.length > 0 && pageRows.every((row) => selected.has(definition.keyOf(row)));
  const hasMore =
    definition.hasMatching === true && isWholePage && count !== undefined && count > selection.rows.length;
  return (
    <section aria-label="Selection" className={isAny ? "selection" : "selection none"}>
      <span>{formatted(selectedCount(selection))} selected</span>
      {isAny && (
        <>
          {hasMore && (
            <button type="button" className="plain small" onClick={() => selected.selectMatching(count, limits)}>
              Select all {formatted(count)} matching
            </button>
          )}
          {(definition.actions ?? []).map(({ name, onSelect, isDangerous, disabled }) => (
            <button
              key={name}
              type="button"
              className={isDangerous ? "danger small" : "plain small"}
              disabled={disabled !== undefined}
              title={disabled}
              onClick={() => onSelect(selection, selected.clear)}
            >
              {name}
            </button>
          ))}
          <button type="button" className="plain small" onClick={selected.clear}>
            Clear
          </button>
        </>
      )}
    </section>
  );
}

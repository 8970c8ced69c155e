import { type ReactElement, useSyncExternalStore } from "react";
import type { AnyEndpoint } from "../../../api/endpoint.ts";
import { formatted } from "../counted.ts";
import { MenuButton } from "../menu.tsx";
import { type ListDefinition, type SelectionAction, selectedCount } from "./definition.ts";
import type { useSelection } from "./use-selection.ts";

interface SelectionBarProps<E extends AnyEndpoint, Row> {
  readonly definition: ListDefinition<E, Row>;
  readonly selected: ReturnType<typeof useSelection<Row>>;
  readonly pageRows: readonly Row[];
  readonly count: number | undefined;
  readonly limits: Readonly<Record<string, string>>;
}

/** Buttons that a narrow page shows; if there are more actions, the last place is that of a menu with the others. */
const NARROW_PLACES = 3;
const narrow = matchMedia("(max-width: 40rem)");

function subscribeNarrow(listener: () => void): () => void {
  narrow.addEventListener("change", listener);
  return () => narrow.removeEventListener("change", listener);
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
          <ActionButtons
            actions={(definition.actions ?? []).map(({ onSelect, ...action }) => ({
              ...action,
              onSelect: () => onSelect(selection, selected.clear),
            }))}
          />
          <button type="button" className="plain small" onClick={selected.clear}>
            Clear
          </button>
        </>
      )}
    </section>
  );
}

interface ActionButtonsProps {
  readonly actions: readonly (Omit<SelectionAction<never>, "onSelect"> & { readonly onSelect: () => void })[];
}

function ActionButtons({ actions }: ActionButtonsProps): ReactElement {
  const isNarrow = useSyncExternalStore(subscribeNarrow, () => narrow.matches);
  const places = isNarrow && actions.length > NARROW_PLACES ? NARROW_PLACES - 1 : actions.length;
  return (
    <>
      {actions.slice(0, places).map(({ name, onSelect, isDangerous, disabled }) => (
        <button
          key={name}
          type="button"
          className={isDangerous ? "danger small" : "plain small"}
          disabled={disabled !== undefined}
          title={disabled}
          onClick={onSelect}
        >
          {name}
        </button>
      ))}
      {places < actions.length && <MenuButton label="More" className="plain small" items={actions.slice(places)} />}
    </>
  );
}

import { useQuery } from "@tanstack/react-query";
import { type ReactElement, useState } from "react";
import type { UrlChange } from "../../url.ts";
import { Dialog } from "../dialog.tsx";
import { ListPicker } from "../list-picker.tsx";
import type { Filter, FilterOption } from "./definition.ts";
import { FindPicker } from "./find-picker.tsx";
import type { ListState } from "./list-state.ts";

interface FiltersProps {
  readonly filters: readonly Filter[];
  readonly state: ListState;
  readonly onChange: (change: UrlChange) => void;
}

/** The filters that are set, each with a button that removes it. The row is always there, so that nothing moves. */
export function ActiveFilters({ filters, state, onChange }: FiltersProps): ReactElement {
  const active = filters.filter(({ name }) => state.filters[name] !== undefined);
  return (
    <ul aria-label="Active filters" className="chips">
      {state.where !== "" && (
        <Chip name="Selector" text={state.where} onRemove={() => onChange({ where: null, page: null })} />
      )}
      {active.map((filter) => (
        <FilterChip key={filter.name} filter={filter} value={state.filters[filter.name]!} onChange={onChange} />
      ))}
    </ul>
  );
}

interface FilterChipProps {
  readonly filter: Filter;
  readonly value: string;
  readonly onChange: (change: UrlChange) => void;
}

function FilterChip({ filter, value, onChange }: FilterChipProps): ReactElement {
  const text = useFilterText(filter, value);
  return <Chip name={filter.label} text={text} onRemove={() => onChange(withoutFilter(filter))} />;
}

/** The value of a filter as users know it. */
export function useFilterText(filter: Filter, value: string): string {
  const { data = [] } = useOptions(filter);
  const name = useQuery({
    queryKey: ["option", filter.name, filter.label, value],
    queryFn: () => filter.find?.nameOf(value) ?? value,
    enabled: filter.find !== undefined,
    staleTime: 60_000,
  });
  return name.data ?? data.find((option) => option.value === value)?.label ?? value;
}

export const withoutFilter = ({ name, needs }: Filter): UrlChange => ({
  [name]: null,
  page: null,
  ...(needs === undefined ? {} : { [needs.name]: null }),
});

function Chip({
  name,
  text,
  onRemove,
}: {
  readonly name: string;
  readonly text: string;
  readonly onRemove: () => void;
}) {
  return (
    <li>
      <span>
        {name}: {text}
      </span>
      <button type="button" aria-label={`Remove ${name}: ${text}`} onClick={onRemove}>
        ×
      </button>
    </li>
  );
}

const useOptions = (filter: Filter) =>
  useQuery({
    queryKey: ["options", filter.name, filter.label],
    queryFn: async (): Promise<readonly FilterOption[]> =>
      typeof filter.options === "function" ? await filter.options() : (filter.options ?? []),
    staleTime: 60_000,
  });

/** The button that adds a filter: first which one, then its value. */
export function AddFilter({ filters, onChange }: Omit<FiltersProps, "state">): ReactElement {
  const [step, setStep] = useState<"closed" | "filter" | Filter>("closed");
  const close = () => setStep("closed");
  const set = (filter: Filter, value: string) => {
    close();
    onChange({
      [filter.name]: value,
      page: null,
      ...(filter.needs === undefined ? {} : { [filter.needs.name]: filter.needs.value }),
    });
  };
  return (
    <>
      <button type="button" className="plain" aria-haspopup="dialog" onClick={() => setStep("filter")}>
        Add filter
      </button>
      {step === "filter" && (
        <ListPicker
          title="Add filter"
          options={filters.map(({ name, label }) => ({ id: name, name: label }))}
          onSelect={(name) => setStep(filters.find((filter) => filter.name === name)!)}
          onClose={close}
        />
      )}
      {typeof step === "object" && <FilterValue filter={step} onSelect={(value) => set(step, value)} onClose={close} />}
    </>
  );
}

interface FilterValueProps {
  readonly filter: Filter;
  readonly onSelect: (value: string) => void;
  readonly onClose: () => void;
}

function FilterValue({ filter, onSelect, onClose }: FilterValueProps): ReactElement {
  const { data } = useOptions(filter);
  const [text, setText] = useState("");
  if (filter.find !== undefined)
    return <FindPicker title={filter.label} find={filter.find.options} onSelect={onSelect} onClose={onClose} />;
  if (filter.options !== undefined)
    return (
      <ListPicker
        title={filter.label}
        options={(data ?? []).map(({ value, label }) => ({ id: value, name: label }))}
        onSelect={onSelect}
        onClose={onClose}
      />
    );
  return (
    <Dialog title={filter.label} onClose={onClose}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          if (text.trim() !== "") onSelect(text.trim());
        }}
      >
        <label className="field">
          {filter.label}
          <input
            data-focus=""
            type={filter.isDay ? "date" : "text"}
            value={text}
            onChange={({ target }) => setText(target.value)}
          />
        </label>
        <div className="dialog-buttons">
          <button type="submit">Add filter</button>
        </div>
      </form>
    </Dialog>
  );
}

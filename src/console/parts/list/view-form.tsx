import { type ReactElement, useEffect } from "react";
import { type View, viewsApi } from "../../../api/settings/views.ts";
import { client, useOutdate } from "../../api.ts";
import { notifyDone } from "../../frame/notices.tsx";
import { isPremium, may, useSession } from "../../session.ts";
import { Form, SelectField, TextField } from "../form/form.tsx";
import { useForm } from "../form/use-form.ts";
import type { ViewPage } from "./definition.ts";

/** What a view stores of a list. */
export interface ListShape {
  readonly query: Readonly<Record<string, string>>;
  readonly columns: readonly string[];
}

interface ViewFormProps {
  readonly page: ViewPage;
  /** Null: a new one, of what the list shows. */
  readonly view: View | null;
  readonly state: ListShape;
  readonly onChange: (hasChanges: boolean) => void;
  readonly onDone: () => void;
}

const TEAM = "team ";

const placeOf = (place: string) =>
  place.startsWith(TEAM)
    ? { shared: "team" as const, team_id: Number(place.slice(TEAM.length)) }
    : { shared: place === "everyone" ? ("everyone" as const) : ("me" as const) };

const placeOfView = (view: View | null): string =>
  view?.shared === "team" ? `${TEAM}${view.team_id}` : (view?.shared ?? "me");

/** The name of a view, and with whom it is shared. */
export function ViewForm({ page, view, state, onChange, onDone }: ViewFormProps): ReactElement {
  const outdate = useOutdate();
  const places = usePlaces();
  const form = useForm({
    initial: { name: view?.name ?? "", shared: placeOfView(view) },
    send: ({ name, shared }, options): Promise<unknown> => {
      const place = placeOf(shared);
      if (view !== null)
        return client.call(viewsApi.modify, { params: { id: String(view.id) }, body: { name, ...place } }, options);
      const body = { name, page, query: { ...state.query }, columns: [...state.columns], ...place };
      return client.call(viewsApi.create, { body }, options);
    },
    onDone: (_, { name }) => {
      notifyDone(`The view ${name} is saved.`);
      form.reset();
      onDone();
      void outdate(viewsApi.list, viewsApi.get);
    },
  });
  useEffect(() => onChange(form.isChanged), [form.isChanged, onChange]);
  return (
    <section aria-label={view === null ? "Save as view" : `Edit ${view.name}`} className="view-form">
      <h3>{view === null ? "Save what the list shows as a view" : `Edit ${view.name}`}</h3>
      <Form form={form} submit={view === null ? "Save view" : "Save"} {...(view === null ? {} : { onCancel: onDone })}>
        <TextField form={form} name="name" label="Name" />
        {places.length > 1 && <SelectField form={form} name="shared" label="Shared with" options={places} />}
      </Form>
    </section>
  );
}

/** For whom the user may save views. */
function usePlaces(): readonly { readonly value: string; readonly label: string }[] {
  const { available_teams } = useSession();
  const teams = isPremium() ? available_teams.filter(({ id }) => id > 0 && may("views:share", id)) : [];
  return [
    { value: "me", label: "Nobody: only for me" },
    ...teams.map(({ id, name }) => ({ value: `${TEAM}${id}`, label: `Team ${name}` })),
    ...(may("views:share", null) ? [{ value: "everyone", label: "Everyone" }] : []),
  ];
}

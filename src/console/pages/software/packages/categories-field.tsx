import { type ReactElement, useId, useState } from "react";
import { selfServiceCategoriesApi } from "../../../../api/software/self-service.ts";
import { useRead } from "../../../api.ts";
import type { Form, FormValues } from "../../../parts/form/use-form.ts";

interface CategoriesFieldProps<V extends FormValues & { readonly categories: readonly string[] }> {
  readonly form: Form<V>;
  readonly teamId: number;
}

/** The categories of the team, and new ones, which are created with the package. */
export function CategoriesField<V extends FormValues & { readonly categories: readonly string[] }>({
  form,
  teamId,
}: CategoriesFieldProps<V>): ReactElement {
  const id = useId();
  const [text, setText] = useState("");
  const { data } = useRead(selfServiceCategoriesApi.list, { query: { team_id: teamId, order_key: "name" } });
  const chosen: readonly string[] = form.values.categories;
  const existing = (data?.self_service_categories ?? []).map(({ name }) => name);
  const names = [...existing, ...chosen.filter((name) => !existing.includes(name))];
  const set = (categories: readonly string[]) => form.set("categories", categories as V["categories"]);
  const add = () => {
    const name = text.trim();
    if (name !== "" && !chosen.includes(name)) set([...chosen, name]);
    setText("");
  };
  const error = form.errorOf("categories");
  return (
    <fieldset className="field categories">
      <legend>Categories of self-service</legend>
      {names.map((name) => (
        <label key={name} className="check">
          <input
            type="checkbox"
            checked={chosen.includes(name)}
            onChange={({ target }) =>
              set(target.checked ? [...chosen, name] : chosen.filter((other) => other !== name))
            }
          />
          {name}
        </label>
      ))}
      <div className="new-category">
        <label htmlFor={id} className="hidden">
          New category
        </label>
        <input
          id={id}
          value={text}
          placeholder="New category"
          autoComplete="off"
          onChange={({ target }) => setText(target.value)}
          onKeyDown={(event) => {
            if (event.key !== "Enter") return;
            event.preventDefault();
            add();
          }}
        />
        <button type="button" className="plain" onClick={add}>
          Add category
        </button>
      </div>
      {error !== null && (
        <p className="wrong" role="alert">
          {error}
        </p>
      )}
    </fieldset>
  );
}

import { type ReactElement, useState } from "react";
import { type SelfServiceCategory, selfServiceCategoriesApi } from "../../../../api/software/self-service.ts";
import { client, request, useRead } from "../../../api.ts";
import { notifyDone } from "../../../frame/notices.tsx";
import { Dialog } from "../../../parts/dialog.tsx";
import { ErrorMessage } from "../../../parts/error-message.tsx";
import { Form, TextField } from "../../../parts/form/form.tsx";
import { useForm } from "../../../parts/form/use-form.ts";
import { Read } from "../../../parts/loading/read.tsx";
import type { TeamOption } from "../../../parts/one-team.tsx";
import { SmallTable } from "../../../parts/small-table.tsx";
import { useOutdateOffers } from "./use-outdate-offers.ts";

interface CategoriesDialogProps {
  readonly team: TeamOption;
  readonly onClose: () => void;
}

/** The categories in which users of a team's hosts find software. */
export default function CategoriesDialog({ team, onClose }: CategoriesDialogProps): ReactElement {
  const query = { team_id: team.id, order_key: "name" } as const;
  const reply = useRead(selfServiceCategoriesApi.list, { query });
  const [editing, setEditing] = useState<SelfServiceCategory | null>(null);
  return (
    <Dialog title={`Categories of ${team.name}`} onClose={onClose}>
      <p>Users of hosts find software of self-service by its categories.</p>
      <Read from={reply} what="categories">
        {({ self_service_categories }) => <Categories categories={self_service_categories} onEdit={setEditing} />}
      </Read>
      <CategoryForm key={editing?.id ?? "new"} team={team} category={editing} onDone={() => setEditing(null)} />
    </Dialog>
  );
}

interface CategoriesProps {
  readonly categories: readonly SelfServiceCategory[];
  readonly onEdit: (category: SelfServiceCategory) => void;
}

function Categories({ categories, onEdit }: CategoriesProps): ReactElement {
  const outdate = useOutdateOffers();
  const [error, setError] = useState<unknown>(null);
  const remove = async ({ id, name }: SelfServiceCategory) => {
    try {
      await request(() => client.call(selfServiceCategoriesApi.delete, { params: { id: String(id) } }));
      setError(null);
      notifyDone(`${name} is deleted. Its software is still offered.`);
      await outdate();
    } catch (thrown) {
      setError(thrown);
    }
  };
  return (
    <>
      {error !== null && <ErrorMessage error={error} />}
      <SmallTable
        name="Categories"
        rows={categories}
        keyOf={({ id }) => id}
        columns={[
          { name: "Name", cell: ({ name }) => name },
          {
            name: "Actions",
            cell: (category) => (
              <span className="buttons">
                <button
                  type="button"
                  className="plain small"
                  aria-label={`Rename ${category.name}`}
                  onClick={() => onEdit(category)}
                >
                  Rename
                </button>
                <button
                  type="button"
                  className="danger small"
                  aria-label={`Delete ${category.name}`}
                  onClick={() => void remove(category)}
                >
                  Delete
                </button>
              </span>
            ),
          },
        ]}
        empty="There are no categories yet."
      />
    </>
  );
}

interface CategoryFormProps {
  readonly team: TeamOption;
  /** The category that is renamed. Null: a new one. */
  readonly category: SelfServiceCategory | null;
  readonly onDone: () => void;
}

function CategoryForm({ team, category, onDone }: CategoryFormProps): ReactElement {
  const outdate = useOutdateOffers();
  const form = useForm({
    initial: { name: category?.name ?? "" },
    send: ({ name }, options) =>
      category === null
        ? client.call(selfServiceCategoriesApi.create, { body: { team_id: team.id, name } }, options)
        : client.call(
            selfServiceCategoriesApi.update,
            { params: { id: String(category.id) }, body: { name } },
            options,
          ),
    onDone: (_, { name }) => {
      notifyDone(category === null ? `${name} is created.` : `${category.name} is named ${name}.`);
      form.set("name", "");
      onDone();
      void outdate();
    },
    hasDryRun: false,
  });
  return (
    <Form
      form={form}
      submit={category === null ? "Create category" : "Rename"}
      {...(category === null ? {} : { onCancel: onDone })}
    >
      <TextField form={form} name="name" label={category === null ? "New category" : `New name of ${category.name}`} />
    </Form>
  );
}

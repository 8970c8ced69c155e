import type { ReactElement } from "react";

interface RowButton<Kind extends string> {
  readonly kind: Kind;
  readonly label: string;
  readonly isDangerous?: boolean;
  /** Default: yes. */
  readonly isShown?: boolean;
}

interface RowButtonsProps<Kind extends string> {
  /** The name of the row's object, which is part of the buttons' names: "Edit: Sales". */
  readonly name: string;
  readonly buttons: readonly RowButton<Kind>[];
  readonly onSelect: (kind: Kind) => void;
}

/** The buttons of a row, each of which opens a dialog. */
export const RowButtons = <Kind extends string>({ name, buttons, onSelect }: RowButtonsProps<Kind>): ReactElement => (
  <span className="buttons">
    {buttons
      .filter(({ isShown = true }) => isShown)
      .map(({ kind, label, isDangerous = false }) => (
        <button
          key={kind}
          type="button"
          className={isDangerous ? "danger small" : "plain small"}
          aria-haspopup="dialog"
          aria-label={`${label}: ${name}`}
          onClick={() => onSelect(kind)}
        >
          {label}
        </button>
      ))}
  </span>
);

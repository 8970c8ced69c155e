import type { ReactElement } from "react";
import { pageSizes } from "../../../api/accounts/user-settings.ts";

export type PageSize = (typeof pageSizes)[number];

interface PagerProps {
  readonly page: number;
  readonly pageSize: number;
  readonly hasNext: boolean;
  readonly onPage: (page: number) => void;
  readonly onPageSize: (size: PageSize) => void;
}

export function Pager({ page, pageSize, hasNext, onPage, onPageSize }: PagerProps): ReactElement {
  return (
    <div className="pager">
      <label>
        Rows per page
        <select value={pageSize} onChange={({ target }) => onPageSize(pageSizes[target.selectedIndex] ?? pageSizes[0])}>
          {pageSizes.map((size) => (
            <option key={size}>{size}</option>
          ))}
        </select>
      </label>
      <span>Page {page + 1}</span>
      <button type="button" className="plain" disabled={page === 0} onClick={() => onPage(page - 1)}>
        Previous page
      </button>
      <button type="button" className="plain" disabled={!hasNext} onClick={() => onPage(page + 1)}>
        Next page
      </button>
    </div>
  );
}

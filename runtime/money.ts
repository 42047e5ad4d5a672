/** An amount at the prices of model_price_save(), whose currency nobody told the ledger; null: there are no prices. */
export const money = (amount: number | null): string => (amount === null ? '–' : amount.toFixed(Math.abs(amount) >= 1 ? 2 : 4));

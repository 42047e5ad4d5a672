/** Formats an amount at the prices of model_price_save(). The ledger does not know the currency. Null: no prices are known. */
export const money = (amount: number | null): string => (amount === null ? '–' : amount.toFixed(Math.abs(amount) >= 1 ? 2 : 4));

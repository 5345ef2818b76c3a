//! Recipes: a policy for each station and a schedule.

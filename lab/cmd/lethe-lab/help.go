package main

// longHelp are the help texts of flags that are too long for a tag, by the name under
// which the tag has them. In them ${name} stands for another of the variables.
func longHelp() map[string]string {
	return map[string]string{
		"any_dataset": "Folder with Elliptic's CSV files, or a citation .npz.",
		"attack_requests": "How many requests erase the targets; ${attack_requests_default} by default. An attacker who " +
			"compares predictions before and after a request learns more if it names fewer targets.",
		"attack_steps": "Timesteps to use, from the first: half for the deployment, half for the attacker; " +
			"${attack_steps_default} by default.",
		"attack_targets": "Transactions to erase, and as many that are never sent; ${attack_targets_default} by " +
			"default, fewer if the data has fewer labels.",
		"evaluate_results": "Also write all tables to this one Markdown file, and their figures to a folder beside it.",
		"partition_alpha":  "${cut_alpha} 0: ${cut_alpha_default}, or less where the graph requires it.",
		"partition_plot":   "Draw shard sizes and the spread of classes to this .svg or .png file.",
		"partition_tune": "Search the paper's alpha and beta for every timestep, to minimise cut, imbalance and " +
			"unfairness.",
		"refine": "${cut_refine} Never for blpa, bekm and --assign plain.",
		"train_epochs": "${graph_epochs} By default ${graph_epochs_default} on a graph, on a stream " +
			"${static_epochs_default} (static), ${continual_epochs_default} (continual) or " +
			"${window_epochs_default} (window).",
		"train_learning_rate": "${graph_learning_rate} By default ${graph_learning_rate_default} on a graph (sgc " +
			"${sgc_learning_rate_default}), ${static_learning_rate_default} on a stream.",
		"train_min_stubs": "${mend_min_stubs} By default ${graph_stubs} (gin ${gin_stubs}) on a graph in shards, " +
			"0 on a stream.",
		"train_repair": "Repair cut neighbourhoods by ${repairs}; truth is for the paper's ablation only.",
		"train_resume": "Store every trained shard in this folder, and load the shards that it has: an interrupted run " +
			"continues.",
		"train_split":          "${static_split} By default ${split} where there are ${split_steps}. For streams.",
		"train_train_fraction": "${graph_train_fraction} By default ${graph_train_fraction_default}. For graphs.",
		"train_weight_decay": "${graph_weight_decay} By default ${graph_weight_decay_default} on a graph, " +
			"${static_weight_decay_default} on a stream.",
		"train_window": "${static_window_timesteps} By default ${window_window_timesteps_default}, and " +
			"${window_rows_window_timesteps_default} for blend and models of rows.",
		"train_workers": "Shards to train in parallel; by default one per processor. The result does not depend on " +
			"it.",
	}
}

func jobCandidates(_ context: CommandContext) async -> [CompletionAnswer.Candidate] { [] }
func hostCandidates(_ context: CommandContext) async -> [CompletionAnswer.Candidate] { [] }

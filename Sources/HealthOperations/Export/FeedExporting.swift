import HealthFormats
import HealthStore

extension Exporting {
  /// Along the change feed, so that the file has all that the store holds: deletions, and samples that are hidden behind
  /// others. What happens meanwhile is in it, too.
  func run(_ writer: ChangeFeedWriter) async throws -> ExportSummary {
    try await writing {
      var summary = ExportSummary()
      var bytes: [UInt8] = []
      var (anchor, epoch): (Anchor, Epoch?) = (.zero, nil)
      while true {
        try Task.checkCancellation()
        let page = try await reader.store.feed.codedChanges(
          since: anchor, epoch: epoch, filter: reader.filter, limit: Self.pageSize)
        do {
          try writer.append(page.changes, to: &bytes)
        } catch let error as DecodingError {
          throw reader.store.damage(error)
        }
        try await flush(&bytes)
        summary.written += page.changes.samples.count
        summary.deletions += page.changes.tombstones.count
        stage.advance(items: page.changes.samples.count, bytes: 0)
        if page.isLast { return summary }
        (anchor, epoch) = (page.anchor, page.epoch)
      }
    }
  }

  /// In changes; one of large samples is shorter.
  private static let pageSize = 2_000
}

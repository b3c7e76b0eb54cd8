import HealthFormats
import HealthModel
import HealthStore

extension ExportFormat {
  /// The change feed, one change per line. It has everything in the store, including tombstones and hidden samples.
  public static let ndjson = ExportFormat("ndjson", suffix: "ndjson", otherSuffixes: ["jsonl"], isFeed: true) {
    exporting, _ in try await exporting.writeFeed(ChangeFeedWriter())
  }
}

extension Exporting {
  /// Writes the change feed, which has everything in the store, including tombstones and hidden samples. Changes that
  /// happen during the export are included.
  fileprivate func writeFeed(_ writer: ChangeFeedWriter) async throws -> ExportSummary {
    try await writing {
      var summary = ExportSummary()
      var page = try await page(after: .zero, nil)
      while true {
        try Task.checkCancellation()
        let (anchor, epoch) = (page.anchor, page.epoch)
        if page.isLast {
          try await write(page.changes, writer, &summary)
          return summary
        } else if page.changes.samples.count + page.changes.tombstones.count < Self.pageSize {
          // A page that was cut short has large samples, so the next page is not read ahead.
          try await write(page.changes, writer, &summary)
          page = try await self.page(after: anchor, epoch)
        } else {
          async let next = self.page(after: anchor, epoch)
          try await write(page.changes, writer, &summary)
          page = try await next
        }
      }
    }
  }

  private func page(after anchor: Anchor, _ epoch: Epoch?) async throws -> CodedChangePage {
    try await reader.store.feed.codedChanges(
      since: anchor, epoch: epoch, filter: reader.filter, limit: Self.pageSize)
  }

  private func write(
    _ changes: CodedChanges, _ writer: ChangeFeedWriter, _ summary: inout ExportSummary
  ) async throws {
    var bytes: [UInt8] = []
    do {
      try writer.append(changes, to: &bytes)
    } catch let error as DecodingError {
      throw reader.store.damage(error)
    }
    try await flush(&bytes)
    summary.written += changes.samples.count
    summary.deletions += changes.tombstones.count
    stage.advance(items: changes.samples.count, bytes: 0)
  }

  /// The maximum number of changes in a page; a page of large samples is shorter.
  private static let pageSize = 2_000
}

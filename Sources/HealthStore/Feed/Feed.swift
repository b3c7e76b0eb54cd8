import GRDB
import HealthModel

extension HealthStore {
  /// The change feed: what happened, in the order in which it did.
  public struct Feed: Sendable {
    let store: HealthStore
  }

  /// The change feed: what happened, in the order in which it did.
  public var feed: Feed { Feed(store: self) }
}

extension HealthStore.Feed {
  /// What happened after `anchor`, oldest first, at most `limit` changes; costs what it returns, not what the store
  /// holds. A `limit` below 1 is taken for 1: a page always moves on.
  ///
  /// A page is shorter where samples are so large that they would not fit into memory. A sample that was added and
  /// deleted since appears as its tombstone only. Throws ``StoreError/anchorOutOfRange``
  /// where the anchor is not a position of this store.
  ///
  /// - Parameter epoch: of the page that the anchor comes from. An anchor whose epoch is another by now, as after a restore,
  ///   when tombstones were forgotten or an import was undone, is out of range. To be left out only for an anchor that is
  ///   no older than this object; where tombstones were ever forgotten, those before the last of them are out of range then, however new.
  public func changes(
    since anchor: Anchor, epoch: Epoch? = nil, filter: SampleFilter = .everything, limit: Int
  ) async throws(StoreError) -> ChangePage {
    try await store.read { [store] db in
      let feed = try FeedReader(db, store.epochs).page(after: anchor, epoch: epoch, filter: filter, limit: limit)
      return ChangePage(
        changes: try feed.stored.inOrder(), anchor: feed.anchor, epoch: feed.epoch, isLast: feed.isLast)
    }
  }

  /// The same page in the form that is fastest to read, to send and to apply. In it the order of changes is lost, which
  /// does no harm: a tombstone wins wherever it stands.
  ///
  /// - Parameter cut: what the reader may know of each sample.
  public func codedChanges(
    since anchor: Anchor, epoch: Epoch? = nil, filter: SampleFilter = .everything,
    cut: SampleCut = SampleFilter.everything.cut, limit: Int
  ) async throws(StoreError) -> CodedChangePage {
    try await store.read { [store] db in
      let feed = try FeedReader(db, store.epochs).page(
        after: anchor, epoch: epoch, filter: filter, cut: cut, limit: limit)
      return CodedChangePage(
        changes: feed.stored.changes, anchor: feed.anchor, epoch: feed.epoch, isLast: feed.isLast)
    }
  }

  /// Where the store stands now, and the epoch that covers that.
  public func currentPosition() async throws(StoreError) -> (anchor: Anchor, epoch: Epoch) {
    try await store.read { db -> (anchor: Anchor, epoch: Epoch) in
      let counter = try Schema.counter(db)
      return (Anchor(change: counter), try Epoch.covering(counter, db))
    }
  }

  /// Whether all that happened up to a ``currentPosition()`` of before is in this store. Not so where it was put back from an
  /// older copy, or is another store; and perhaps not known where tombstones were forgotten or an import was undone.
  public func holds(_ anchor: Anchor, _ epoch: Epoch) async throws(StoreError) -> Bool {
    try await store.read { db in try epoch.covers(anchor.change, db) }
  }

  /// Where the store stands now.
  public func currentAnchor() async throws(StoreError) -> Anchor {
    try await store.read { db in Anchor(change: try Schema.counter(db)) }
  }
}

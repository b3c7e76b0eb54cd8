import GRDB
import HealthModel

extension HealthStore {
  /// The change feed: all changes of a store, in the order in which they happened.
  public struct Feed: Sendable {
    let store: HealthStore
  }

  /// The change feed: all changes of the store, in the order in which they happened.
  public var feed: Feed { Feed(store: self) }
}

extension HealthStore.Feed {
  /// Returns at most `limit` changes after `anchor`, oldest first. The cost depends on the size of the page, not of
  /// the store. A `limit` below 1 counts as 1, so that a page always moves on.
  ///
  /// A page is shorter if its samples are so large that they would not fit into memory. A sample that was added and
  /// deleted since appears only as its tombstone. Throws ``StoreError/anchorOutOfRange`` if the anchor is not a
  /// position of this store.
  ///
  /// - Parameter epoch: the epoch of the page that the anchor comes from. The anchor is out of range if another epoch
  ///   covers it by now, as after a restore, pruned tombstones or an undone import. Omit the epoch only for an anchor
  ///   that is no older than this object. Without it, if tombstones were ever pruned, every anchor before the last of
  ///   them is out of range, even a new one.
  public func changes(
    since anchor: Anchor, epoch: Epoch? = nil, filter: SampleFilter = .everything, limit: Int
  ) async throws(StoreError) -> ChangePage {
    try await store.read { [store] db in
      let feed = try FeedReader(db, store.epochs).page(after: anchor, epoch: epoch, filter: filter, limit: limit)
      return ChangePage(
        changes: try feed.stored.inOrder(), anchor: feed.anchor, epoch: feed.epoch, isLast: feed.isLast)
    }
  }

  /// Returns the same page in the form that is fastest to read, send and apply. The order of changes is lost, which
  /// does no harm, because a tombstone always wins.
  ///
  /// - Parameter cut: the parts of each sample that the reader may see.
  public func codedChanges(
    since anchor: Anchor, epoch: Epoch? = nil, filter: SampleFilter = .everything,
    cut: SampleRedaction = SampleFilter.everything.cut, limit: Int
  ) async throws(StoreError) -> CodedChangePage {
    try await store.read { [store] db in
      let feed = try FeedReader(db, store.epochs).page(
        after: anchor, epoch: epoch, filter: filter, cut: cut, limit: limit)
      return CodedChangePage(
        changes: feed.stored.changes, anchor: feed.anchor, epoch: feed.epoch, isLast: feed.isLast)
    }
  }

  /// Returns the store's current position, and the epoch that covers it.
  public func currentPosition() async throws(StoreError) -> (anchor: Anchor, epoch: Epoch) {
    try await store.read { db -> (anchor: Anchor, epoch: Epoch) in
      let counter = try Schema.counter(db)
      return (Anchor(change: counter), try Epoch.covering(counter, db))
    }
  }

  /// Returns whether this store has all changes up to an earlier ``currentPosition()``. False if the store was
  /// restored from an older copy or is another store, and possibly after tombstones were pruned or an import was
  /// undone.
  public func holds(_ anchor: Anchor, _ epoch: Epoch) async throws(StoreError) -> Bool {
    try await store.read { db in try epoch.covers(anchor.change, db) }
  }

  /// Returns the store's current position.
  public func currentAnchor() async throws(StoreError) -> Anchor {
    try await store.read { db in Anchor(change: try Schema.counter(db)) }
  }
}

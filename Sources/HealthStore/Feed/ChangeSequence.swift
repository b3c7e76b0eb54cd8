import HealthModel

extension HealthStore.Feed {
  /// Waits until the store's position differs from `anchor`. Usually returns a few milliseconds after a commit,
  /// whichever process of this machine made it.
  ///
  /// A wake-up is a hint and may be spurious; ``changes(since:epoch:filter:limit:)`` returns what is new, if
  /// anything. No change is missed between the two calls, because the anchor decides and not the time of the call:
  ///
  /// ```swift
  /// func follow(_ store: HealthStore, _ handle: ([Change]) -> Void) async throws {
  ///   var page = try await store.feed.changes(since: .zero, limit: 1000)
  ///   while true {
  ///     handle(page.changes)
  ///     if page.isLast { try await store.feed.waitForChanges(after: page.anchor) }
  ///     page = try await store.feed.changes(since: page.anchor, epoch: page.epoch, limit: 1000)
  ///   }
  /// }
  /// ```
  ///
  /// Any number of tasks may wait. Together they cost a few small queries per commit, and one every five seconds when
  /// idle. Throws only `CancellationError`, as soon as the task is cancelled.
  public func waitForChanges(after anchor: Anchor) async throws {
    try await store.watch.wait(after: anchor.change)
  }

  /// Returns a sequence of all changes after `anchor`, and then of new changes as they happen, whichever process of
  /// this machine makes them.
  ///
  /// ```swift
  /// func follow(
  ///   _ store: HealthStore, from position: (anchor: Anchor, epoch: Epoch), save: (Anchor, Epoch) throws -> Void
  /// ) async throws {
  ///   for try await page in store.feed.changes(since: position.anchor, epoch: position.epoch) {
  ///     for change in page.changes {
  ///       switch change {
  ///       case .added(let sample): print("+", sample.type)
  ///       case .deleted(let tombstone): print("-", tombstone.sample.type)
  ///       }
  ///     }
  ///     try save(page.anchor, page.epoch)
  ///   }
  /// }
  /// ```
  ///
  /// No page is empty. Changes that were committed together may come in several pages, and many commits in one page.
  /// The sequence reads only when the next page is requested, so a slow reader blocks no other and uses no memory,
  /// and no transaction stays open.
  ///
  /// The sequence ends when its task is cancelled. It throws ``StoreError``, in particular
  /// ``StoreError/anchorOutOfRange`` if the anchor is not, or no longer, a position of this store: start over from
  /// ``Anchor/zero`` then.
  ///
  /// To read once what is new, use ``changes(since:epoch:filter:limit:)``.
  ///
  /// - Parameters:
  ///   - epoch: the epoch of the page that the anchor comes from; see ``changes(since:epoch:filter:limit:)``.
  ///   - pageSize: the maximum number of changes in a page.
  public func changes(
    since anchor: Anchor = .zero, epoch: Epoch? = nil, filter: SampleFilter = .everything, pageSize: Int = 2_000
  ) -> ChangeSequence {
    ChangeSequence(store: store, anchor: anchor, epoch: epoch, filter: filter, pageSize: pageSize)
  }
}

/// An asynchronous sequence of a store's changes; see ``HealthStore/Feed/changes(since:epoch:filter:pageSize:)``.
public struct ChangeSequence: AsyncSequence, Sendable {
  let store: HealthStore
  let anchor: Anchor
  let epoch: Epoch?
  let filter: SampleFilter
  let pageSize: Int

  public func makeAsyncIterator() -> AsyncIterator {
    AsyncIterator(self)
  }

  public struct AsyncIterator: AsyncIteratorProtocol {
    private let sequence: ChangeSequence
    private var anchor: Anchor
    private var epoch: Epoch?
    /// Whether the previous page was the last.
    private var isCaughtUp = false

    fileprivate init(_ sequence: ChangeSequence) {
      self.sequence = sequence
      anchor = sequence.anchor
      epoch = sequence.epoch
    }

    public mutating func next() async throws -> ChangePage? {
      do {
        while !Task.isCancelled {
          if isCaughtUp { try await sequence.store.feed.waitForChanges(after: anchor) }
          let page = try await sequence.store.feed.changes(
            since: anchor, epoch: epoch, filter: sequence.filter, limit: sequence.pageSize)
          (anchor, epoch, isCaughtUp) = (page.anchor, page.epoch, page.isLast)
          if !page.changes.isEmpty { return page }
        }
        return nil
      } catch  where Task.isCancelled {
        // A cancelled read throws an error of the store.
        return nil
      }
    }
  }
}

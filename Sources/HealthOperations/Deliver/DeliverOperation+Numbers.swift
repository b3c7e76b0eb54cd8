import Destinations
import HealthAnalysis
import HealthModel
import HealthStore
import OperatingSystem

extension DeliverOperation {
  /// Delivers statistics again that have changed because the person chose another home zone or preferred source, and
  /// deletes statistics whose hour or day does not begin at the same time in the new zone.
  func renewNumbers<Place: Destination>(of place: Place, _ context: Context) async throws -> CourierReport {
    let (consumer, basis) = (section.consumer, context.basis)
    let hasStatistics = context.shape?.hasStatistics ?? false
    let kept = try await StatisticsBasis.last(of: consumer, in: store)
    guard hasStatistics || place.capabilities.days != .none else {
      if kept != nil {
        try await forgetWithdrawals()
        try await StatisticsBasis.forget(of: consumer, in: store)
      }
      return CourierReport()
    }
    guard let kept else {
      try await basis.keep(of: consumer, in: store)
      return CourierReport()
    }
    // A withdrawal that was begun is finished, even if the person has changed back to the former zone.
    let isBegun = try await !RedeliveryRequests.withdrawals(consumer, in: store).isEmpty
    guard kept != basis || isBegun else { return CourierReport() }
    var report = CourierReport()
    if basis.hasOtherZone(than: kept) || isBegun {
      if hasStatistics {
        if place.capabilities.deletes { report = try await withdraw(Place.self, from: kept.zone, context) }
        try await RedeliveryRequests.ensureDeliveredAgain(.everything, to: consumer, in: store)
      } else if place.capabilities.days == .all {
        try await store.startConsumerOver(consumer)
      } else if place.capabilities.days == .named {
        // Redelivery is requested first, so that no withdrawn day stays missing.
        try await RedeliveryRequests.ensureDeliveredAgain(.everything, to: consumer, in: store)
        try await withdrawDays(of: place)
      } else {
        let recent = Timestamp(microseconds: Timestamp.now.microseconds - 3 * 86_400_000_000)
        try await RedeliveryRequests.ensureDeliveredAgain(SampleFilter(earliest: recent), to: consumer, in: store)
      }
    }
    let types = basis.typesToldOtherwise(than: kept)
    if !types.isEmpty {
      try await RedeliveryRequests.ensureDeliveredAgain(SampleFilter(types: types), to: consumer, in: store)
    }
    try await basis.keep(of: consumer, in: store)
    try await forgetWithdrawals()
    return report
  }

  private func forgetWithdrawals() async throws {
    for name in try await RedeliveryRequests.withdrawals(section.consumer, in: store) {
      try await store.removeConsumer(name)
    }
  }

  private func withdrawDays<Place: Destination>(of place: Place) async throws {
    do {
      try await place.withdrawDays()
    } catch let error as DeliveryError {
      let failure = CourierError(error, destination: section.consumer)
      try await uncancelled { [store, section] in
        try await store.deliveries.noteFailure(failure.reason, waiting: nil, section.consumer)
      }
      throw failure
    }
  }

  private func withdraw<Place: Destination>(
    _ kind: Place.Type, from zone: String, _ context: Context
  ) async throws -> CourierReport {
    guard let zone = try? ZoneRules(named: zone) else { return CourierReport() }
    var former = self.context(in: zone, context.settings)
    former.shape = former.shape?.withdrawing(butThoseOf: context.zone)
    // A place with one file per day needs the former zone to find its files.
    let place = try await make(kind, former)
    do {
      let name = RedeliveryRequests.withdrawal(section.consumer, for: context.zone)
      let consumer = try await store.consumer(name, filter: former.filter, owedAs: section.consumer)
      let report = try await courier(to: place, name, former.filter, former).run(of: consumer)
      await place.close()
      return report
    } catch {
      await place.close()
      throw error
    }
  }
}

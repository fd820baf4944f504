// TCP of ns-3 over a packet-delivery trace, with the columns of `crates/lab/examples/beside_ns3.rs`.
//
// No part of Kneepoint's build. ns-3's own Python package has its headers and libraries:
//
//     pip install ns3==3.44
//     NS3=$(python -c 'import ns3; print(ns3.__path__[0])')
//     g++ -std=c++20 -O2 -w docs/ns3_trace_link.cc -o ns3_trace_link -I$NS3/include -L$NS3/lib64 \
//         -Wl,-rpath,$NS3/lib64:$NS3/../ns3.libs $(printf -- '-lns3.44-%s ' core network internet virtual-net-device stats)
//     ./ns3_trace_link --trace=FILE --congestion=TcpCubic
//
// A bulk sender, 20 ms each way, and a drop-tail queue of 3 MB before a link that follows the trace as mahimahi does: 1504
// bytes each time, of which a packet takes its IP length and 4. A line is printed for each timeout of the sender's.

#include "ns3/core-module.h"
#include "ns3/internet-module.h"
#include "ns3/network-module.h"
#include "ns3/virtual-net-device-module.h"

#include <algorithm>
#include <cstdio>
#include <deque>
#include <fstream>
#include <iostream>
#include <string>
#include <vector>

using namespace ns3;

namespace {

constexpr uint64_t opportunityBytes = 1504;
constexpr uint64_t overhead = 4;
constexpr double stretch = 5;

double mean(const std::vector<double>& values) {
    double sum = 0;
    for (double value : values) sum += value;
    return values.empty() ? 0 : sum / values.size();
}

/// By nearest rank; sorts the values.
double percentile(std::vector<double>& values, double p) {
    if (values.empty()) return 0;
    std::sort(values.begin(), values.end());
    auto rank = static_cast<size_t>(std::ceil(p * values.size()));
    return values[std::clamp<size_t>(rank, 1, values.size()) - 1];
}

class Path {
  public:
    Path(std::vector<uint64_t> trace, uint64_t limit) : m_trace(std::move(trace)), m_limit(limit) {}

    void Connect(Ptr<VirtualNetDevice> sender, Ptr<VirtualNetDevice> receiver) {
        m_sender = sender;
        m_receiver = receiver;
        sender->SetSendCallback(MakeCallback(&Path::Data, this));
        receiver->SetSendCallback(MakeCallback(&Path::Ack, this));
        Simulator::Schedule(MilliSeconds(m_trace.front()), &Path::Opportunity, this);
        Simulator::Schedule(Seconds(stretch), &Path::EndOfStretch, this);
    }

    void Window(uint32_t, uint32_t window) { m_window = window; }

    void State(TcpSocketState::TcpCongState_t from, TcpSocketState::TcpCongState_t to) {
        if (to == TcpSocketState::CA_LOSS)
            std::printf("timeout at %.1f s, in %s, with %.0f kB in the queue\n", Simulator::Now().GetSeconds(),
                        TcpSocketState::TcpCongStateName[from], m_queued / 1e3);
    }

    void Summary(double seconds) {
        std::printf("%.2f Mb/s on the wire; queueing delay mean %.0f ms, p95 %.0f, p99 %.0f; %zu dropped\n",
                    m_sent * 8 / seconds / 1e6, mean(m_all), percentile(m_all, .95), percentile(m_all, .99), m_drops);
    }

  private:
    struct Waiting {
        Ptr<Packet> packet;
        Time arrival;
        uint64_t Size() const { return packet->GetSize() + overhead; }
    };

    bool Data(Ptr<Packet> packet, const Address&, const Address&, uint16_t) {
        Waiting waiting{packet->Copy(), Simulator::Now()};
        if (m_queued + waiting.Size() > m_limit) {
            m_drops++;
            m_stretchDrops++;
            return true;
        }
        m_queued += waiting.Size();
        m_queue.push_back(waiting);
        return true;
    }

    bool Ack(Ptr<Packet> packet, const Address&, const Address&, uint16_t) {
        Carry(m_sender, packet->Copy());
        return true;
    }

    void Opportunity() {
        uint64_t budget = opportunityBytes;
        while (budget > 0 && !m_queue.empty()) {
            uint64_t missing = m_queue.front().Size() - m_served;
            if (missing > budget) {
                m_served += budget;
                break;
            }
            budget -= missing;
            m_served = 0;
            Waiting done = m_queue.front();
            m_queue.pop_front();
            m_queued -= done.Size();
            m_sent += done.Size();
            double delay = (Simulator::Now() - done.arrival).GetSeconds() * 1e3;
            m_all.push_back(delay);
            m_stretch.push_back(delay);
            Carry(m_receiver, done.packet);
        }
        if (++m_next == m_trace.size()) {
            m_next = 0;
            m_base += m_trace.back();
        }
        Simulator::Schedule(MilliSeconds(m_base + m_trace[m_next]) - Simulator::Now(), &Path::Opportunity, this);
    }

    void Carry(Ptr<VirtualNetDevice> to, Ptr<Packet> packet) {
        Simulator::ScheduleWithContext(to->GetNode()->GetId(), MilliSeconds(20), [to, packet] {
            to->Receive(packet, 0x0800, to->GetAddress(), to->GetAddress(), NetDevice::PACKET_HOST);
        });
    }

    void EndOfStretch() {
        double least = m_stretch.empty() ? 0 : *std::min_element(m_stretch.begin(), m_stretch.end());
        std::printf("| %.0f | %.0f | %.0f | %lu | %zu |\n", Simulator::Now().GetSeconds(), mean(m_stretch), least,
                    m_window / 1000ul, m_stretchDrops);
        m_stretch.clear();
        m_stretchDrops = 0;
        Simulator::Schedule(Seconds(stretch), &Path::EndOfStretch, this);
    }

    Ptr<VirtualNetDevice> m_sender, m_receiver;
    std::vector<uint64_t> m_trace;
    size_t m_next = 0;
    uint64_t m_base = 0;
    std::deque<Waiting> m_queue;
    uint64_t m_limit, m_queued = 0, m_served = 0, m_sent = 0;
    uint32_t m_window = 0;
    size_t m_drops = 0, m_stretchDrops = 0;
    std::vector<double> m_all, m_stretch;
};

void Discard(Ptr<Socket> socket) {
    while (socket->Recv()) {
    }
}

void Accept(Ptr<Socket> socket, const Address&) { socket->SetRecvCallback(MakeCallback(&Discard)); }

void Fill(Ptr<Socket> socket, uint32_t) {
    constexpr uint32_t piece = 100'000;
    while (socket->GetTxAvailable() > piece && socket->Send(Create<Packet>(piece)) > 0) {
    }
}

void Connected(Ptr<Socket> socket) { Fill(socket, 0); }

} // namespace

int main(int count, char** arguments) {
    std::string file, congestion = "TcpCubic";
    uint32_t segment = 1448, window = 10, acknowledge = 2;
    double seconds = 60;
    CommandLine line;
    line.AddValue("trace", "a packet-delivery trace", file);
    line.AddValue("congestion", "TcpCubic, TcpVegas, TcpBbr, ...", congestion);
    line.AddValue("segment", "bytes of a segment", segment);
    line.AddValue("window", "the initial window in segments", window);
    line.AddValue("acknowledge", "segments per acknowledgement", acknowledge);
    line.Parse(count, arguments);

    std::ifstream input(file);
    std::vector<uint64_t> trace;
    for (uint64_t at; input >> at;) trace.push_back(at);
    if (trace.empty() || trace.back() == 0) {
        std::cerr << file << ": no trace\n";
        return 1;
    }

    Config::SetDefault("ns3::TcpL4Protocol::SocketType", TypeIdValue(TypeId::LookupByName("ns3::" + congestion)));
    Config::SetDefault("ns3::TcpSocket::SndBufSize", UintegerValue(64'000'000));
    Config::SetDefault("ns3::TcpSocket::RcvBufSize", UintegerValue(64'000'000));
    Config::SetDefault("ns3::TcpSocket::SegmentSize", UintegerValue(segment));
    Config::SetDefault("ns3::TcpSocket::InitialCwnd", UintegerValue(window));
    Config::SetDefault("ns3::TcpSocket::DelAckCount", UintegerValue(acknowledge));

    NodeContainer nodes(2);
    InternetStackHelper().Install(nodes);
    NetDeviceContainer devices;
    for (uint32_t i = 0; i < 2; i++) {
        auto device = CreateObject<VirtualNetDevice>();
        device->SetAddress(Mac48Address::Allocate());
        device->SetMtu(1500);
        device->SetIsPointToPoint(true);
        nodes.Get(i)->AddDevice(device);
        devices.Add(device);
    }
    Ipv4AddressHelper addresses("10.0.0.0", "255.255.255.0");
    auto interfaces = addresses.Assign(devices);
    Path path(trace, 3'000'000);
    path.Connect(DynamicCast<VirtualNetDevice>(devices.Get(0)), DynamicCast<VirtualNetDevice>(devices.Get(1)));

    auto listener = Socket::CreateSocket(nodes.Get(1), TcpSocketFactory::GetTypeId());
    listener->Bind(InetSocketAddress(Ipv4Address::GetAny(), 5000));
    listener->Listen();
    listener->SetAcceptCallback(MakeNullCallback<bool, Ptr<Socket>, const Address&>(), MakeCallback(&Accept));

    auto sender = Socket::CreateSocket(nodes.Get(0), TcpSocketFactory::GetTypeId());
    sender->Bind();
    sender->SetConnectCallback(MakeCallback(&Connected), MakeNullCallback<void, Ptr<Socket>>());
    sender->SetSendCallback(MakeCallback(&Fill));
    sender->TraceConnectWithoutContext("CongestionWindow", MakeCallback(&Path::Window, &path));
    sender->TraceConnectWithoutContext("CongState", MakeCallback(&Path::State, &path));
    Simulator::ScheduleWithContext(0, Seconds(0), [&] {
        sender->Connect(InetSocketAddress(interfaces.GetAddress(1), 5000));
    });

    std::printf("%s over %s\n| until s | mean queueing delay ms | least ms | cwnd kB | dropped |\n|---|---|---|---|---|\n",
                congestion.c_str(), file.c_str());
    Simulator::Stop(Seconds(seconds) + NanoSeconds(1));
    Simulator::Run();
    path.Summary(seconds);
    Simulator::Destroy();
}

# SPDX-License-Identifier: BSD-3-Clause
# The host's part of each case that has one: 0 when it agrees. It runs beside the guest, in the case's network
# namespace; $1 is the guest's console, what went wrong is the last line of its log. A case that is like another
# has the other's. Read by tests/guest/run.

# Until the guest has said it, or too long.
guest_says() {
	local i
	for i in $(seq 1 $((limit * 4))); do
		grep -aq "$2" "$1" && return 0
		grep -aq 'reboot: Power down' "$1" && break
		sleep 0.25
	done
	echo "the guest never said '$2'"
	return 1
}

host_ping() {
	{
		guest_says "$1" 'GUEST up' && ping -c 10 -i 0.2 -W 2 192.168.77.2 | grep ' 0% packet loss'
	} > "$logs/host_ping.log" 2>&1
}

# What the guest sent is what came, and the other way round; the sums are on its console.
host_bulk() {
	python3 "$here/bulk.py" "$1" "$limit" > "$logs/host_bulk.log" 2>&1
}

# Linux's ping, answered by an engine of Carillon's in the guest; and that the guest runs the file that is here.
host_carillon() {
	local log=$logs/host_carillon.log sum out
	sum=$(sha256sum < "$build/apps/testpmd/carillon-testpmd")
	{
		echo "carillon-testpmd on this machine: sha256 ${sum%% *}"
		guest_says "$1" 'GUEST up' || return
		grep -aq "GUEST sha256 ${sum%% *}" "$1" || {
			echo "the guest runs another carillon-testpmd"
			return 1
		}
		out=$(ping -c 10 -i 0.2 -W 2 192.168.77.2)
		echo "$out"
		grep -q ' 0% packet loss' <<< "$out"
	} > "$log" 2>&1
}

host_macswap() {
	{
		guest_says "$1" 'GUEST up' &&
			python3 "$here/frames.py" swap h0 02:5c:78:00:00:00 3000 100
	} > "$logs/host_macswap.log" 2>&1
}

# Listens before the guest sends: what comes first is the first.
host_flowgen() {
	python3 "$here/frames.py" flows h0 1024 20000 "$limit" > "$logs/host_flowgen.log" 2>&1
}

# The queue that stops has answered some; the one after it answers all. The first pings are over before the second
# program is up, which counts what it answers and goes.
host_error_cqe() {
	{
		guest_says "$1" 'GUEST up' || return
		ping -c 6 -i 0.2 -W 1 192.168.77.2
		guest_says "$1" 'GUEST again' && ping -c 5 -i 0.2 -W 2 192.168.77.2 | grep ' 0% packet loss'
	} > "$logs/host_error_cqe.log" 2>&1
}

host_testpmd() {
	{
		guest_says "$1" 'GUEST up' && ping -c 10 -i 0.2 -W 2 192.168.77.2 | grep ' 0% packet loss'
	} > "$logs/host_testpmd.log" 2>&1
}

host_testpmd_flow() {
	ip neigh add 192.168.77.2 lladdr 02:5c:78:00:00:00 dev h0 # testpmd answers no ARP in this mode
	python3 "$here/udp.py" "$1" "$limit" > "$logs/host_testpmd_flow.log" 2>&1
}

host_ethtool() {
	python3 "$here/udp.py" "$1" "$limit" > "$logs/host_ethtool.log" 2>&1
}

host_mtu() {
	{
		guest_says "$1" 'GUEST up' &&
			ping -c 10 -i 0.2 -W 2 -s 8900 -M 'do' 192.168.77.2 | grep ' 0% packet loss'
	} > "$logs/host_mtu.log" 2>&1
}

host_carillon_rss() {
	ip neigh add 192.168.77.2 lladdr 02:5c:78:00:00:00 dev h0
	python3 "$here/udp.py" "$1" "$limit" > "$logs/host_carillon_rss.log" 2>&1
}
